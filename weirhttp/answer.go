package weirhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/edge"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/retry"
)

// answerTo returns the meaning of a response, or of a transport's error, for the downstream, and
// whether the request may be sent again.
func answerTo(req *http.Request, res *http.Response, err error) (a retry.Answer) {
	untouched := false // the downstream did nothing
	if err != nil {
		a, untouched = errorAnswer(req.Context(), err)
	} else {
		a, untouched = responseAnswer(res)
	}
	a.Final = a.Final || !untouched && !idempotent(req) || !replayable(req)
	return a
}

func responseAnswer(res *http.Response) (a retry.Answer, untouched bool) {
	switch {
	case responseOutcome(res) == weir.Overloaded:
		after, _ := headers.RetryAfter(res.Header, time.Now())
		return retry.Answer{Outcome: weir.Overloaded, RetryAfter: after}, res.Header[RefusedHeader] != nil
	case res.StatusCode == http.StatusBadGateway, res.StatusCode == http.StatusGatewayTimeout:
		return retry.Answer{Outcome: weir.Overloaded}, false
	case res.StatusCode >= 500:
		return retry.Answer{Outcome: weir.Failure, Final: true}, false
	default:
		return retry.Answer{Outcome: weir.Success}, false
	}
}

func errorAnswer(ctx context.Context, err error) (a retry.Answer, untouched bool) {
	switch refused, known := errors.AsType[*weir.RefusedError](err); {
	case errors.Is(ctx.Err(), context.Canceled):
		return retry.Answer{Outcome: weir.Ignore, Final: true}, false
	case known:
		_, again := edge.RetryAfter(refused)
		return retry.Answer{Outcome: weir.Ignore, RetryAfter: refused.RetryAfter, Final: !again}, true
	case errors.Is(err, weir.ErrRefused):
		return retry.Answer{Outcome: weir.Ignore}, true
	}
	dial, ok := errors.AsType[*net.OpError](err)
	return retry.Answer{Outcome: weir.Overloaded}, ok && dial.Op == "dial"
}

// idempotent reports whether a request may reach the downstream twice: by its method (RFC 9110,
// section 9.2.2), or by a key, as for [http.Transport].
func idempotent(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
}

func replayable(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}
