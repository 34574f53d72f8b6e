package weirgrpc

import (
	"context"
	"time"

	"github.com/weir-go/weir"
	"google.golang.org/grpc/tap"
)

// mostLeft bounds the contexts that a tap leaves behind. grpc-go (v1.85.0) does not cancel the
// context of a call that a tap refuses, so a context with a deadline stays until then, with a
// timer. Each context takes about 1 KB, with the timer that counts it: 50,000 contexts take 50 MB.
// Without a bound, calls with a deadline in a year would take all memory. A context without a
// deadline leaves nothing.
const mostLeft = 50_000

// Tap is a [tap.ServerInHandle]. While the limiter of the method is full, it refuses the call
// before its message is read or decoded. It never waits and takes no slot; the interceptor does
// that. It lets methods pass that no interceptor of s has seen yet, so that a peer cannot create
// limiters with invented method names.
//
// A call that it refuses reaches no interceptor and no [google.golang.org/grpc/stats.Handler]; it
// is in the limiter's own snapshot and events. Its refusals carry RetryInfo, but no pushback,
// because a tap cannot send a trailer. [grpc.Server.ServeHTTP] calls no tap.
//
// gRPC keeps the context of a call that a tap refused until the call's deadline. While it keeps
// 50,000 such contexts, Tap lets further calls with a deadline pass, and the interceptor refuses
// them.
func (s *ServerLimits) Tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	admitter := s.methods.Known(info.FullMethodName)
	if admitter == nil {
		return ctx, nil
	}
	deadline, hasDeadline := ctx.Deadline()
	if hasDeadline && s.left.Load() >= mostLeft {
		return ctx, nil
	}
	asking := s.withPriority(ctx)
	if err := weir.Full(asking, admitter); err != nil {
		if hasDeadline {
			s.left.Add(1)
			time.AfterFunc(time.Until(deadline), func() { s.left.Add(-1) }) // context.AfterFunc takes 1 KB
		}
		return ctx, newRefusal(asking, err)
	}
	return ctx, nil
}
