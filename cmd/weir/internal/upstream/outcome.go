package upstream

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/weirhttp"
)

// failed reports whether a response means that the address is sick. A response that sheds load
// names the time of a retry, or says that Weir refused the request.
func failed(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	case http.StatusServiceUnavailable:
		_, later := headers.RetryAfter(res.Header, time.Now())
		return !later && res.Header[weirhttp.RefusedHeader] == nil
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
	// Without a connection or a dialError, net/http refused the request before it opened a
	// connection.
	return s.connections.Load() > 0 || errors.As(err, new(*dialError))
}

// LacksFiles reports whether the proxy could not open a connection because it, or the system, has
// too many files open. No address is to blame for that.
func LacksFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
