package weirgrpc

import (
	"context"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/trust"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// ClientLimits puts limiters in front of the calls of a [grpc.ClientConn]. Make one with
// [LimitClient]. All methods are safe for concurrent use.
type ClientLimits struct{ methods *rpc.Methods }

// LimitClient returns a ClientLimits that makes each call within the limit of the admitter that
// admitterFor names for its method, as for [LimitServer]. Use one limiter for each downstream.
//
// A refused call is not sent. Its error has the code that a server's refusal would have. It also
// matches [weir.ErrRefused], unlike a server's refusal. A call sends on the priority of its context
// as metadata, unless it is Normal; gRPC itself sends on the deadline.
func LimitClient(admitterFor func(fullMethod string) weir.Admitter) *ClientLimits {
	return &ClientLimits{methods: rpc.NewMethods(admitterFor)}
}

// Options returns the interceptors as options for [grpc.NewClient]. They chain: interceptors
// that NewClient gets before them run around them. The option of [RetryClient] belongs before them,
// so that each attempt asks for a slot.
func (c *ClientLimits) Options() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(c.Unary), grpc.WithChainStreamInterceptor(c.Stream)}
}

// Unary is a [grpc.UnaryClientInterceptor]. The slot is held until the call is over, gRPC's own
// retries included.
func (c *ClientLimits) Unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ctx = sendPriority(ctx)
	admitter := c.methods.Of(method)
	if admitter == nil {
		return invoker(ctx, method, req, reply, conn, opts...)
	}
	permit, err := admitter.Acquire(ctx)
	if err != nil {
		return newRefusal(ctx, err)
	}
	outcome := weir.Failure // if the invoker panics, or ends its goroutine
	defer func() { permit.Finish(outcome) }()
	var trailer metadata.MD
	err = invoker(ctx, method, req, reply, conn, append(opts[:len(opts):len(opts)], grpc.Trailer(&trailer))...)
	after, told := comeBack(err, trailer)
	if outcome = rpc.OutcomeOnClient(ctx, err, codeOf(err), told); outcome == weir.Overloaded {
		permit.Pushback(after)
	}
	return err
}

// Stream is a [grpc.StreamClientInterceptor]. A stream is admitted when it begins and gives the
// slot back at once, as on a server.
func (c *ClientLimits) Stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	ctx = sendPriority(ctx)
	admitter := c.methods.Of(method)
	if admitter == nil {
		return streamer(ctx, desc, conn, method, opts...)
	}
	permit, err := admitter.Acquire(ctx)
	if err != nil {
		return nil, newRefusal(ctx, err)
	}
	outcome := weir.Failure
	defer func() { permit.Finish(outcome) }()
	stream, err := streamer(ctx, desc, conn, method, opts...)
	if outcome = weir.Ignore; err != nil {
		after, told := RetryAfter(err)
		if outcome = rpc.OutcomeOnClient(ctx, err, codeOf(err), told); outcome == weir.Overloaded {
			permit.Pushback(after)
		}
	}
	return stream, err
}

// sendPriority returns ctx with its priority, if it has one, in the metadata to send.
func sendPriority(ctx context.Context) context.Context {
	p := weir.PriorityFrom(ctx)
	if p == weir.PriorityNormal {
		return ctx
	}
	return withMetadata(ctx, trust.Key, p.String())
}

// withMetadata returns ctx with a value to send, in place of a value that was set by hand: a server
// would ignore both of two values.
func withMetadata(ctx context.Context, key, value string) context.Context {
	sent, _ := metadata.FromOutgoingContext(ctx) // a copy
	if sent == nil {
		sent = metadata.MD{}
	}
	sent.Set(key, value)
	return metadata.NewOutgoingContext(ctx, sent)
}
