package weirconnect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirconnect"
	"github.com/weir-go/weir/weirhttp"
	"google.golang.org/protobuf/types/known/emptypb"
)

const check = "/shop.Cart/Check"

// ok is a handler as a service has it.
func ok(context.Context, *connect.Request[emptypb.Empty]) (*connect.Response[emptypb.Empty], error) {
	return connect.NewResponse(&emptypb.Empty{}), nil
}

// ask calls a handler.
func ask(h http.Handler, opts ...connect.ClientOption) error {
	srv := httptest.NewServer(h)
	defer srv.Close()
	client := connect.NewClient[emptypb.Empty, emptypb.Empty](srv.Client(), srv.URL+check, opts...)
	_, err := client.CallUnary(context.Background(), connect.NewRequest(&emptypb.Empty{}))
	return err
}

// One limiter for all procedures, and priorities from peers with a certificate that the server
// verified.
func ExampleLimitServer() {
	lim := weir.Must(weir.New(weir.Config{Name: "cart", Queue: weir.Queue{Size: 100}}))
	limits := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
	mux := http.NewServeMux()
	mux.Handle(check, connect.NewUnaryHandler(check, ok, limits.Option())) // as cartv1connect.NewCartHandler(svc, limits.Option())

	fmt.Println(ask(weirhttp.Trust(mux, trust.Peers(trust.Verified).Request)), lim.Snapshot().Succeeded)
	// Output: <nil> 1
}

// A limiter for each procedure, under one cap.
func ExampleByMethod() {
	set, err := bulkhead.New(bulkhead.Config{Max: 100, Default: bulkhead.Compartment{Config: weir.Config{Max: 1}}})
	if err != nil {
		return
	}
	limits := weirconnect.LimitServer(weirconnect.ByMethod(set), weirconnect.ServerConfig{})
	permit, _ := set.TryAcquire(context.Background(), check)
	defer permit.Release() // until then the procedure is full
	fmt.Println(ask(connect.NewUnaryHandler(check, ok, limits.Option())))
	// Output: resource_exhausted: refused: limit reached
}

// A client that holds back calls that its downstream cannot take.
func ExampleLimitClient() {
	lim := weir.Must(weir.New(weir.Config{Name: "cart", Max: 1}))
	limits := weirconnect.LimitClient(weirconnect.One(lim))
	permit, _ := lim.TryAcquire(context.Background()) // somebody else has the only slot
	defer permit.Release()

	err := ask(connect.NewUnaryHandler(check, ok), connect.WithInterceptors(limits))
	fmt.Println(connect.CodeOf(err), errors.Is(err, weir.ErrLimitReached))
	// Output: resource_exhausted true
}

func ExampleExempt() {
	lim := weir.Must(weir.New(weir.Config{}))
	admitterFor := weirconnect.Exempt(weirconnect.One(lim), "grpc.health.v1.Health")
	fmt.Println(admitterFor("/grpc.health.v1.Health/Check") == nil, admitterFor(check) == nil)
	// Output: true false
}

func ExampleRetryAfter() {
	lim := weir.Must(weir.New(weir.Config{Max: 1}))
	permit, _ := lim.TryAcquire(context.Background())
	defer permit.Release()
	limits := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})

	after, told := weirconnect.RetryAfter(ask(connect.NewUnaryHandler(check, ok, limits.Option())))
	fmt.Println(told, after > 0)
	// Output: true true
}

// A call is tried again when the server said when to come back.
func ExampleClassify() {
	downstream, err := retry.New(retry.Config{Name: "billing", Classify: weirconnect.Classify})
	if err != nil {
		return
	}
	err = downstream.Do(context.Background(), func(context.Context) error {
		return nil // as _, err := billing.Charge(ctx, req)
	})
	fmt.Println(err, downstream.Snapshot().Attempts)
	// Output: <nil> 1
}

// A server that is full at first.
func ExampleRetryClient() {
	downstream, _ := retry.New(retry.Config{Name: "cart", Backoff: time.Millisecond})
	lim := weir.Must(weir.New(weir.Config{Max: 1}))
	permit, _ := lim.TryAcquire(context.Background())
	time.AfterFunc(time.Millisecond, permit.Release)
	limits := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})

	err := ask(connect.NewUnaryHandler(check, ok, limits.Option()), connect.WithInterceptors(weirconnect.RetryClient(downstream)))
	fmt.Println(err)
	// Output: <nil>
}
