package weirgrpc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"google.golang.org/grpc"
	"google.golang.org/grpc/tap"
)

// TestTapLeavesABoundedNumberOfContexts, for gRPC does not cancel them: the rest is for the
// interceptor to refuse.
func TestTapLeavesABoundedNumberOfContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Max: 1}))
		server := LimitServer(One(lim), ServerConfig{})
		known, end := context.WithTimeout(t.Context(), time.Second) // of no peer
		defer end()
		_, _ = server.Unary(known, nil, &grpc.UnaryServerInfo{FullMethod: "/a.B/C"},
			func(context.Context, any) (any, error) { return nil, nil })
		permit := must.Have(lim.Acquire(t.Context()))(t)
		defer permit.Release()
		refused := func(timeout time.Duration) bool {
			ctx := t.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				t.Cleanup(cancel) // gRPC calls it never
			}
			_, err := server.Tap(ctx, &tap.Info{FullMethodName: "/a.B/C"})
			return err != nil
		}

		server.left.Store(mostLeft - 1)
		for _, step := range []struct {
			name    string
			timeout time.Duration
			want    bool
		}{
			{"the last", time.Minute, true},
			{"one more", time.Minute, false},
			{"without a deadline", 0, true},
		} {
			if got := refused(step.timeout); got != step.want {
				t.Errorf("%s: refused %v, want %v", step.name, got, step.want)
			}
		}
		time.Sleep(time.Minute) // the context of the last ends
		synctest.Wait()
		if !refused(time.Minute) {
			t.Error("once one has ended: it passed")
		}
	})
}
