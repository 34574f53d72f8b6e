package proxytest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirgrpc"
	"github.com/weir-go/weir/weirhttp"
)

// An api refuses requests beyond a limit that its clients do not know.
type api struct {
	name    string
	short   int // the limiters of a short trial; eight together keep no rate
	start   func(t testing.TB) peer
	clients func(t testing.TB, p peer, limiters int) func(http.RoundTripper) http.RoundTripper
}

// work is the time of a request to an API.
const work = 50 * time.Millisecond

// The APIs do 20 requests at a time, or the same number in a second.
var apis = []api{
	{"nginx, limit_conn 20", 8, func(t testing.TB) peer { return startNginx(t, startUnlimited(t), 20) }, overHTTP},
	{"nginx, limit_req 400r/s", 1, func(t testing.TB) peer {
		return startNginxWith(t, startUnlimited(t), "limit_req_zone $server_name zone=rate:1m rate=400r/s;", "limit_req zone=rate burst=40 nodelay;")
	}, overHTTP},
	{"weir proxy, fixed(20)", 1, func(t testing.TB) peer {
		return startWeir(t, startUnlimited(t), "--law", "fixed(20)", "--queue", "0")
	}, overHTTP},
	{"grpc-go, 20 at once", 8, func(t testing.TB) peer { return startGRPC(t, 20) }, overGRPC},
}

// startUnlimited starts the upstream of an API that is a proxy.
func startUnlimited(t testing.TB) peer { return startUpstream(t, upstream{workers: 1000, least: work}) }

// startGRPC starts a gRPC server, which answers RESOURCE_EXHAUSTED beyond a concurrency.
func startGRPC(t testing.TB, limit int64) peer {
	t.Helper()
	l := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	var running atomic.Int64
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		defer running.Add(-1)
		if running.Add(1) > limit {
			return nil, status.Error(codes.ResourceExhausted, "too many calls")
		}
		pause(work)
		return handler(ctx, req)
	}))
	testgrpc.RegisterTestServiceServer(server, interop.NewTestServer())
	go func() { _ = server.Serve(l) }() // until it is stopped
	t.Cleanup(server.Stop)
	return peer{url: "http://" + l.Addr().String()}
}

func limiters(n int) []*weir.Limiter {
	all := make([]*weir.Limiter, n)
	for i := range all {
		all[i] = weir.Must(weir.New(weir.Config{}))
	}
	return all
}

func overHTTP(_ testing.TB, _ peer, n int) func(http.RoundTripper) http.RoundTripper {
	if n == 0 {
		return nil
	}
	gates := limiters(n)
	var turn atomic.Uint64
	return func(base http.RoundTripper) http.RoundTripper {
		return weirhttp.Transport(base, func(*http.Request) weir.Admitter { return gates[turn.Add(1)%uint64(n)] })
	}
}

// overGRPC has n connections take turns, each with a limiter, or one connection without a
// limiter.
func overGRPC(t testing.TB, p peer, n int) func(http.RoundTripper) http.RoundTripper {
	t.Helper()
	dial := func(opts ...grpc.DialOption) testgrpc.TestServiceClient {
		conn := must.Have(grpc.NewClient(p.url[len("http://"):], append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...))(t)
		t.Cleanup(func() { conn.Close() })
		return testgrpc.NewTestServiceClient(conn)
	}
	c := &calls{}
	for _, lim := range limiters(n) {
		c.conns = append(c.conns, dial(weirgrpc.LimitClient(weirgrpc.One(lim)).Options()...))
	}
	if n == 0 {
		c.conns = append(c.conns, dial())
	}
	return func(http.RoundTripper) http.RoundTripper { return c }
}

// Calls makes a gRPC call in place of each HTTP request.
type calls struct {
	conns []testgrpc.TestServiceClient
	turn  atomic.Uint64
}

// RoundTrip implements http.RoundTripper: RESOURCE_EXHAUSTED becomes 429.
func (c *calls) RoundTrip(r *http.Request) (*http.Response, error) {
	client := c.conns[c.turn.Add(1)%uint64(len(c.conns))]
	_, err := client.EmptyCall(r.Context(), &testgrpc.Empty{})
	answer := &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}
	if status.Code(err) == codes.ResourceExhausted && !errors.Is(err, weir.ErrRefused) {
		answer.StatusCode, err = http.StatusTooManyRequests, nil
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// TestPushback prints how many of the requests that clients send to an API at twice its limit are
// refused there, and the goodput. A short trial wants few refusals.
func TestPushback(t *testing.T) {
	trial(t)
	tb := newTable(t, "refused share of the sent requests, and good answers as a share of the capacity, from second 3 on",
		"API", "client", "refused", "good")
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			for _, limiters := range either([]int{0, 1, 8}, []int{a.short}) {
				refused, goodput := a.measure(t, limiters)
				tb.row(a.name, clientsNamed[limiters], refused, goodput)
				if !longtest.Full() && refused > 0.3 {
					t.Errorf("%.2f of the sent requests are refused, want few", refused)
				}
			}
		})
	}
}

// measure returns the share of the sent requests that the API refuses, and the goodput as a
// share of its capacity: medians.
func (a api) measure(t *testing.T, limiters int) (refused, goodput float64) {
	const capacity, settled = 400, 3 * time.Second
	during := either(23*time.Second, 8*time.Second)
	var shares, goods []float64
	for seed := range either(3, 1) {
		t.Run("", func(t *testing.T) { // so that its processes end
			p := a.start(t)
			answers := openLoop{
				rate: 2 * capacity, during: during, timeout: time.Second, seed: uint64(seed),
				request: gets(t, p.url+"/work"), through: a.clients(t, p, limiters),
			}.run(t.Context())
			shares = append(shares, refusedThere(answers, settled))
			goods = append(goods, float64(good(answers, settled, during))/(capacity*(during-settled).Seconds()))
		})
	}
	return median(shares), median(goods)
}

var clientsNamed = map[int]string{0: "no limiter", 1: "a limiter", 8: "eight limiters"}

// refusedThere is the share of sent requests that the API refused, from a moment on.
func refusedThere(answers []answer, from time.Duration) float64 {
	sent, refused := 0.0, 0.0
	for _, a := range answers {
		if a.due < from || errors.Is(a.err, weir.ErrRefused) {
			continue
		}
		sent++
		if a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests {
			refused++
		}
	}
	return refused / sent
}
