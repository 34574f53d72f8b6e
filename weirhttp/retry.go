package weirhttp

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/weir-go/weir/retry"
)

// RetryTransport returns a RoundTripper that sends requests with base, or with
// [http.DefaultTransport] if base is nil, as client allows. The client's throttle refuses the
// requests that the downstream would refuse. A request that was refused or lost is sent again
// within the client's budget, no sooner than the Retry-After of the response, and only if its
// context leaves enough time. The RoundTripper is safe for concurrent use if base is, and leaves
// requests as they are. RetryTransport panics if client is nil. Use one client for each downstream.
//
// A request with a body is sent again only if it has a GetBody, as requests of [http.NewRequest]
// do. An idempotent request (GET, HEAD, OPTIONS, TRACE, PUT, DELETE, or one with an
// Idempotency-Key) is sent again after the statuses 429, 502, 503, 504 and 529 and after errors of
// the transport. Any other request is sent again only if it certainly did not run: after 429, 503
// or 529 with a [RefusedHeader], if there was no connection, or if a limiter below refused it. A
// Retry-After alone does not show that: the refusal may come from a service behind the downstream,
// which did the first half of the work. To send such a request again all the same, give it an
// Idempotency-Key. An empty key, req.Header["Idempotency-Key"] = []string{}, does not go to the
// downstream. Retries have the number of the attempt in [AttemptHeader].
//
// If there is no further attempt, the last response or error is returned as it is. A request that
// the throttle refuses is not sent; its body is closed, and the error is a [*weir.RefusedError]
// with [weir.ReasonOverload]. The headers of the response end an attempt: RetryTransport does not
// send a request again because a body breaks off.
//
// Put RetryTransport outside of [Transport] and [Propagate]. Then no retry holds a slot while it
// waits, and each attempt has the time that is left for it in [TimeoutHeader]:
//
//	weirhttp.RetryTransport(weirhttp.Transport(weirhttp.Propagate(nil), weirhttp.One(lim)), client)
func RetryTransport(base http.RoundTripper, client *retry.Client) http.RoundTripper {
	if client == nil {
		panic(missing("RetryTransport: client", "one of retry.New"))
	}
	return &retrier{base: on(base), client: client}
}

type retrier struct {
	base
	client *retry.Client
}

func (t *retrier) RoundTrip(req *http.Request) (res *http.Response, err error) {
	ctx, call := req.Context(), t.client.Call()
	for try := req; ; {
		again, stop := call.Try(ctx, func() retry.Answer {
			res, err = t.base.RoundTrip(try) //nolint:bodyclose // it is returned, or discarded below
			return answerTo(try, res, err)
		})
		if stop != nil {
			closeBody(try)
			return nil, stop
		}
		if !again {
			return res, err
		}
		if res != nil && res.Body != nil { // a transport of tests may leave it out
			discard(res.Body)
		}
		if try, err = resend(req, call.Attempt()+1); err != nil {
			return nil, err
		}
	}
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

func resend(req *http.Request, attempt int) (*http.Request, error) {
	try := withHeader(req)
	try.Header.Set(AttemptHeader, strconv.Itoa(attempt))
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		try.Body = body
	}
	return try, nil
}

const (
	drainTime = 100 * time.Millisecond
	drainSize = 4 << 10 // bytes, enough for a refusal, which is a line of text
)

// discard reads a short body, so that the connection can be used again, and closes it. It waits for
// a slow downstream no longer than drainTime.
func discard(body io.ReadCloser) {
	stop := time.AfterFunc(drainTime, func() { _ = body.Close() })
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, body, drainSize)
	_ = body.Close()
}
