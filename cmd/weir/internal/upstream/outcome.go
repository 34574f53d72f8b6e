package upstream

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/weirhttp"
)

// failed reports whether a response means that the address is sick. asksLater is true if it
// has a Retry-After, as from a server that sheds load.
func failed(res *http.Response, asksLater bool) bool {
	switch res.StatusCode {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	case http.StatusServiceUnavailable:
		return !asksLater && res.Header[weirhttp.RefusedHeader] == nil
	}
	return false
}

// blames reports whether the missing response is the address's fault.
func (s *sending) blames(err error) bool {
	switch ctx := s.out.Context(); {
	// The client has left, its own deadline has passed, or its request was broken off 20 times,
	// which a client can cause.
	case ctx.Err() != nil:
		return errors.Is(context.Cause(ctx), weir.ErrExecutionTimeout)
	case s.caller.ClientFailed(), LacksFiles(err), notBegun(err):
		return false
	}
	// Otherwise net/http refused the request before it opened a connection.
	return s.connections.Load() > 0 || errors.As(err, new(*dialError))
}

// LacksFiles reports whether the proxy could not open a connection because it, or the system, has
// too many files open. No address is to blame for that.
func LacksFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// boundRetryAfter cuts a Retry-After that exceeds the bound, converts a date to seconds, and
// drops an invalid one. It reports whether the header remains.
func boundRetryAfter(h http.Header, bound time.Duration) bool {
	given := h["Retry-After"]
	if given == nil {
		return false
	}
	after, ok := headers.RetryAfter(h, time.Now())
	if !ok {
		delete(h, "Retry-After")
		return false
	}
	seconds := math.Ceil(min(after, bound).Seconds())
	h["Retry-After"] = []string{strconv.FormatFloat(seconds, 'f', 0, 64)}
	return true
}
