package weirconnect

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/weirhttp"
)

// ClientLimits puts limiters in front of the calls of Connect's clients. It is a
// [connect.Interceptor], given to a client by [connect.WithInterceptors]. Make one with
// [LimitClient]. All methods are safe for concurrent use.
type ClientLimits struct{ methods *rpc.Methods }

// LimitClient returns a ClientLimits that makes each call within the limit of the admitter that
// admitterFor names for its procedure, as for [LimitServer]. Use one limiter for each downstream.
//
// A refused call is not sent. Its error has the code that a server's refusal would have. It also
// matches [weir.ErrRefused], unlike a server's refusal. A call sends on the priority of its context
// as a header, unless it is Normal; Connect itself sends on the deadline. An interceptor that
// retries belongs before this one, so that each attempt asks for a slot.
func LimitClient(admitterFor func(procedure string) weir.Admitter) *ClientLimits {
	return &ClientLimits{methods: rpc.NewMethods(admitterFor)}
}

// WrapUnary limits the calls of clients; the slot is held until the call is over.
func (c *ClientLimits) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		spec := req.Spec()
		if !spec.IsClient {
			return next(ctx, req)
		}
		req = withPriority(ctx, req)
		admitter := c.methods.Of(spec.Procedure)
		if admitter == nil {
			return next(ctx, req)
		}
		permit, err := admitter.Acquire(ctx)
		if err != nil {
			return nil, refusal(ctx, err, connect.ProtocolConnect)
		}
		outcome := weir.Failure // if next panics, or ends its goroutine
		defer func() { permit.Finish(outcome) }()
		res, err := next(ctx, req)
		after, told := comeBack(err)
		if outcome = rpc.OutcomeOnClient(ctx, err, codeOf(err), told); outcome == weir.Overloaded {
			permit.Pushback(after)
		}
		return res, err
	}
}

// WrapStreamingClient limits the streams of clients. A stream is admitted when it begins and gives
// the slot back at once, as on a server.
func (c *ClientLimits) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		admitter := c.methods.Of(spec.Procedure)
		if admitter == nil {
			return open(ctx, spec, next)
		}
		permit, err := admitter.Acquire(ctx)
		if err != nil {
			return &refusedConn{spec, http.Header{}, http.Header{}, refusal(ctx, err, connect.ProtocolConnect)}
		}
		permit.Release() // nothing is sent before the first message
		return open(ctx, spec, next)
	}
}

// WrapStreamingHandler returns next: ClientLimits does not limit servers.
func (c *ClientLimits) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// open begins a stream that sends its priority on.
func open(ctx context.Context, spec connect.Spec, next connect.StreamingClientFunc) connect.StreamingClientConn {
	conn := next(ctx, spec)
	if p := weir.PriorityFrom(ctx); p != weir.PriorityNormal {
		conn.RequestHeader().Set(weirhttp.PriorityHeader, p.String())
	}
	return conn
}
