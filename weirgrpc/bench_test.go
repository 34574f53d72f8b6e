package weirgrpc_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/bench"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
)

// BenchmarkUnary prints the cost of each interceptor as a multiple of the limiter's own calls,
// measured in turn with them: "x/own".
//
//	scripts/all go test ./weirgrpc -run '^$' -bench Unary
func BenchmarkUnary(b *testing.B) {
	lim := weir.Must(weir.New(weir.Config{}))
	set := must.Have(bulkhead.New(bulkhead.Config{}))(b)
	key := must.Have(set.Handle(unaryCall))(b)
	ctx, cancel := context.WithCancel(b.Context()) // as in a server, where each call can be cancelled
	defer cancel()
	for _, c := range []struct {
		name     string
		admitter weir.Admitter
		choose   func(string) weir.Admitter
	}{
		{"limiter", lim, weirgrpc.One(lim)},
		{"set", key, weirgrpc.ByMethod(set)},
	} {
		own := func(int) {
			if permit, err := c.admitter.Acquire(ctx); err == nil {
				permit.Done(nil)
			}
		}
		b.Run("server/"+c.name, func(b *testing.B) {
			server := weirgrpc.LimitServer(c.choose, weirgrpc.ServerConfig{})
			req, info := any(&testpb.SimpleRequest{}), &grpc.UnaryServerInfo{FullMethod: unaryCall}
			handler := func(context.Context, any) (any, error) { return req, nil }
			bench.Against(b, 1, func(int) { _, _ = server.Unary(ctx, req, info, handler) }, "own", own)
		})
		b.Run("client/"+c.name, func(b *testing.B) {
			client := weirgrpc.LimitClient(c.choose)
			invoker := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
			bench.Against(b, 1, func(int) { _ = client.Unary(ctx, unaryCall, nil, nil, nil, invoker) }, "own", own)
		})
	}
}

// BenchmarkRefusal prints how many times as many calls of 64 KB a tap refuses as an interceptor in
// the same time, "x/interceptor", over real sockets.
//
//	scripts/all go test ./weirgrpc -run '^$' -bench Refusal
func BenchmarkRefusal(b *testing.B) {
	lim := limittest.Fixed(b, 1, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{})
	connect := func(opts ...grpc.ServerOption) testpb.BenchmarkServiceClient {
		client := testpb.NewBenchmarkServiceClient(dial(b, start(b, &service{}, opts...)))
		must.Have(client.UnaryCall(b.Context(), message))(b)
		return client
	}
	intercepted, tapped := connect(grpc.ChainUnaryInterceptor(server.Unary)), connect(server.Options()...)
	defer limittest.Fill(b, lim)()

	large := &testpb.SimpleRequest{Payload: &testpb.Payload{Body: make([]byte, 64<<10)}}
	refused := func(client testpb.BenchmarkServiceClient, calls int) time.Duration {
		const callers = 4
		began, done := time.Now(), make(chan error, callers)
		for range callers {
			go func() {
				var err error
				for range calls/callers + 1 {
					if _, e := client.UnaryCall(b.Context(), large); status.Code(e) != codes.ResourceExhausted {
						err = fmt.Errorf("not refused: %v", e)
					}
				}
				done <- err
			}()
		}
		for range callers {
			if err := <-done; err != nil {
				b.Error(err)
			}
		}
		return time.Since(began)
	}
	const turns = 10
	var ratios []float64
	for range turns {
		ratios = append(ratios, float64(refused(intercepted, b.N/turns))/float64(refused(tapped, b.N/turns)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[turns/2], "x/interceptor")
}
