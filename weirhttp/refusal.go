package weirhttp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/weir-go/weir"
)

// statusClientLeft is what nginx logs for a client that closed its request.
const statusClientLeft = 499

// refuse answers a request that was not admitted.
func (c Config) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		w.WriteHeader(statusClientLeft)
		return
	}
	reason, drain, again := "deadline exceeded", time.Duration(0), true
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		reason, drain, again = refused.Reason.String(), refused.RetryAfter, refused.Reason != weir.ReasonBadKey
	}
	if again {
		w.Header().Set("Retry-After", retryAfter(drain, rand.Float64()))
	} else {
		c.Status = http.StatusBadRequest
	}
	w.Header().Set("Cache-Control", "no-store") // in place of what was meant for the response
	if c.OnRefused != nil {
		c.OnRefused(w, r, err)
		return
	}
	http.Error(w, http.StatusText(c.Status)+": "+reason, c.Status)
}

// retryAfter returns whole seconds, at least 1. Clients that were refused
// together would come back together: jitter, from 0 to 1, spreads them over
// one to two times the time to drain.
func retryAfter(drain time.Duration, jitter float64) string {
	seconds := math.Ceil(drain.Seconds() * (1 + jitter))
	return strconv.FormatFloat(max(seconds, 1), 'f', 0, 64)
}
