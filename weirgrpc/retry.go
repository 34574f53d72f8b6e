package weirgrpc

import (
	"context"
	"strconv"
	"strings"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/rpc"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/trust"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Retries makes the calls of a [grpc.ClientConn] as a [retry.Client] allows. Make one with
// [RetryClient]. All methods are safe for concurrent use.
type Retries struct{ client *retry.Client }

// RetryClient returns Retries that use client. The client's throttle refuses calls that the
// downstream would refuse. A refused call is sent again within the client's budget, no sooner than
// the server says, and only if its deadline leaves enough time. Use one client for each downstream.
// RetryClient panics if client is nil.
//
// A call is sent again if the server asks for it, by RetryInfo or the trailer
// grpc-retry-pushback-ms, or a limiter of this client refused it. A method that its .proto declares
// idempotent (idempotency_level) is sent again after any UNAVAILABLE and RESOURCE_EXHAUSTED. A
// pushback below 0 forbids a retry. RetryClient does not use the Classify of the client.
//
// Only unary calls are sent again. A server answers a stream after messages were sent, so only the
// caller of the stream can begin it again.
//
// The last error is returned as it is. A call that the throttle refuses is not sent; the error is
// RESOURCE_EXHAUSTED and matches [weir.ErrOverload]. If the call is cancelled while it waits, the
// error is CANCELLED and matches the cause.
func RetryClient(client *retry.Client) *Retries {
	if client == nil {
		panic("weirgrpc: RetryClient: client is nil: want one of retry.New")
	}
	return &Retries{client}
}

// Options returns the interceptor as an option for [grpc.NewClient], and an option that turns off
// the retries of a service config, which would multiply with these. Give both before the options of
// [LimitClient], so that each attempt asks for a slot, and no call holds a slot while it waits for
// its next attempt.
func (r *Retries) Options() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithDisableRetry(), grpc.WithChainUnaryInterceptor(r.Unary)}
}

// Unary is a [grpc.UnaryClientInterceptor]. It sends on the priority of the context, and the number
// of the attempt with retries ([trust.Key], [trust.AttemptKey]), because only gRPC may set
// grpc-previous-rpc-attempts. Call options hold for each attempt.
func (r *Retries) Unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoker grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	call, ctx := r.client.Call(), sendPriority(ctx)
	for attempt := ctx; ; attempt = withMetadata(ctx, trust.AttemptKey, strconv.Itoa(call.Attempt()+1)) {
		var err error
		again, stop := call.Try(ctx, func() retry.Answer {
			var trailer metadata.MD
			err = invoker(attempt, method, req, reply, conn, append(opts[:len(opts):len(opts)], grpc.Trailer(&trailer))...)
			return answerTo(method, err, trailer)
		})
		if stop != nil {
			return newRefusal(ctx, stop)
		}
		if !again {
			return err
		}
	}
}

// answerTo returns the meaning of an attempt's end for the downstream, and whether the call may be
// sent again.
func answerTo(method string, err error, trailer metadata.MD) retry.Answer {
	if err == nil {
		return retry.Answer{Outcome: weir.Success}
	}
	after, mayRepeat := comeBack(err, trailer)
	if len(trailer.Get(pushbackKey)) == 0 {
		mayRepeat = mayRepeat || idempotent(method)
	}
	return rpc.Answer(err, codeOf(err), after, mayRepeat)
}

// idempotent reports whether the .proto of a method, if it is part of the program, declares that a
// call may run twice.
func idempotent(fullMethod string) bool {
	name := strings.ReplaceAll(strings.TrimPrefix(fullMethod, "/"), "/", ".")
	method, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return false
	}
	options, ok := method.Options().(*descriptorpb.MethodOptions)
	return ok && options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}
