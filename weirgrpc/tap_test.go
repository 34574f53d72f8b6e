package weirgrpc_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
)

// BenchmarkRefusal prints how many times as many calls of 64 KB a tap refuses as an interceptor in
// the same time, "x/interceptor", over real sockets.
//
//	scripts/all go test ./weirgrpc -run '^$' -bench Refusal
func BenchmarkRefusal(b *testing.B) {
	lim := limittest.Fixed(b, 1, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{})
	connect := func(opts ...grpc.ServerOption) testpb.BenchmarkServiceClient {
		client := testpb.NewBenchmarkServiceClient(dial(b, start(b, &service{}, opts...)))
		if _, err := client.UnaryCall(b.Context(), message); err != nil {
			b.Fatal(err)
		}
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
