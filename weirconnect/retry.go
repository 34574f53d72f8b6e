package weirconnect

import (
	"context"
	"strconv"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/weirhttp"
)

// Retries makes the calls of Connect's clients as a [retry.Client] allows. It is a
// [connect.Interceptor], given to a client by [connect.WithInterceptors]. Make one with
// [RetryClient]. All methods are safe for concurrent use.
type Retries struct{ client *retry.Client }

// RetryClient returns Retries that send calls as client allows. The client's throttle refuses calls
// that the downstream would refuse. A refused call is sent again within the client's budget, no
// sooner than the server says, and only if its deadline leaves enough time. Use one client for each
// downstream. Give the interceptor before the interceptors of [LimitClient], so that each attempt
// asks for a slot, and no call holds a slot while it waits for its next attempt. RetryClient panics
// if client is nil.
//
// A call is sent again if the server asks for it, by RetryInfo or the trailer
// grpc-retry-pushback-ms, or a limiter of this client refused it. A procedure with a
// [connect.IdempotencyLevel] is sent again after any unavailable and resource_exhausted. A pushback
// below 0 forbids a retry. RetryClient does not use the Classify of the client.
//
// Only unary calls are sent again. A server answers a stream after messages were sent, so only the
// caller of the stream can begin it again.
//
// The last error is returned as it is. A call that the throttle refuses is not sent; the error is
// resource_exhausted and matches [weir.ErrOverload]. If the call is cancelled while it waits, the
// error is canceled and matches the cause.
func RetryClient(client *retry.Client) *Retries {
	if client == nil {
		panic("weirconnect: RetryClient: client is nil: want one of retry.New")
	}
	return &Retries{client}
}

// WrapUnary retries the calls of clients. It sends on the priority of the context, and the number
// of the attempt with retries, in the headers of package weirhttp.
func (r *Retries) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if !req.Spec().IsClient {
			return next(ctx, req)
		}
		req = withPriority(ctx, req)
		try := req
		for call := r.client.Call(); ; try = withHeader(req, weirhttp.AttemptHeader, strconv.Itoa(call.Attempt()+1)) {
			var res connect.AnyResponse
			var err error
			again, stop := call.Try(ctx, func() retry.Answer {
				res, err = next(ctx, try)
				return answerTo(req.Spec(), err)
			})
			if stop != nil {
				return nil, refusal(ctx, stop, connect.ProtocolConnect)
			}
			if !again {
				return res, err
			}
		}
	}
}

// WrapStreamingClient returns next: only the caller of a stream can begin it again.
func (r *Retries) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler returns next: Retries is for clients.
func (r *Retries) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// answerTo returns the meaning of an attempt's end for the downstream, and whether the call may be
// sent again.
func answerTo(spec connect.Spec, err error) retry.Answer {
	if err == nil {
		return retry.Answer{Outcome: weir.Success}
	}
	after, mayRepeat := comeBack(err)
	if len(pushback(err)) == 0 {
		mayRepeat = mayRepeat || spec.IdempotencyLevel != connect.IdempotencyUnknown
	}
	return rpc.Answer(err, codeOf(err), after, mayRepeat)
}
