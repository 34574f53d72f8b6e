package weirhttp

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
)

// statusClientLeft is what nginx logs for a client that closed its request.
const statusClientLeft = 499

// refuse answers a request that was not admitted.
func (c *Config) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if after, again := edge.RetryAfter(err); again && !clientLeft(r) {
		seconds := math.Ceil(after.Seconds()) // at least 1, because after is above 0
		w.Header().Set("Retry-After", strconv.FormatFloat(seconds, 'f', 0, 64))
	}
	c.answer(w, r, err)
}

// answer answers a request that gets no other response because of the error.
func (c *Config) answer(w http.ResponseWriter, r *http.Request, err error) {
	if clientLeft(r) {
		w.WriteHeader(statusClientLeft)
		return
	}
	status, reason := c.Status, "deadline exceeded"
	if refused, ok := errors.AsType[*weir.RefusedError](err); ok {
		reason = refused.Reason.String()
		if s := edge.HTTPStatus(refused.Reason); s != http.StatusServiceUnavailable {
			status = s
		}
	}
	w.Header().Set("Cache-Control", "no-store") // in place of what was meant for the response
	if c.OnRefused != nil {
		c.OnRefused(w, r, err)
		return
	}
	http.Error(w, http.StatusText(status)+": "+reason, status)
}

func clientLeft(r *http.Request) bool { return errors.Is(r.Context().Err(), context.Canceled) }
