package weirgrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/retry"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// serving runs a server and calls it as often as there are names.
func serving(srv *grpc.Server, names ...string) {
	healthpb.RegisterHealthServer(srv, health.NewServer())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = srv.Serve(listener) }()
	defer srv.Stop()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = conn.Close() }()
	for _, name := range names {
		_, err := healthpb.NewHealthClient(conn).Check(context.Background(), &healthpb.HealthCheckRequest{})
		fmt.Println(name, status.Code(err), status.Convert(err).Message())
	}
}

// One limiter for all methods, the checks of health and reflection exempt.
func ExampleLimitServer() {
	lim := weir.Must(weir.New(weir.Config{Name: "api", Queue: weir.Queue{Size: 100}}))
	limits := weirgrpc.LimitServer(weirgrpc.Exempt(weirgrpc.One(lim), "grpc.health.v1.Health"), weirgrpc.ServerConfig{})
	srv := grpc.NewServer(limits.Options()...)
	serving(srv, "health")
	// Output: health OK
}

// A limiter for each method, under one cap.
func ExampleByMethod() {
	set, err := bulkhead.New(bulkhead.Config{Max: 100, Default: bulkhead.Compartment{Config: weir.Config{Max: 1}}})
	if err != nil {
		return
	}
	srv := grpc.NewServer(weirgrpc.LimitServer(weirgrpc.ByMethod(set), weirgrpc.ServerConfig{}).Options()...)

	permit, _ := set.TryAcquire(context.Background(), healthpb.Health_Check_FullMethodName)
	defer permit.Release() // until then the method is full
	serving(srv, "check")
	// Output: check ResourceExhausted refused: limit reached
}

func ExampleExempt() {
	lim := weir.Must(weir.New(weir.Config{}))
	admitterFor := weirgrpc.Exempt(weirgrpc.One(lim), "grpc.health.v1.Health", "/shop.Cart/Price")
	fmt.Println(admitterFor("/grpc.health.v1.Health/Check") == nil, admitterFor("/shop.Cart/Price") == nil, admitterFor("/shop.Cart/Add") == nil)
	// Output: true true false
}

// Priorities are taken from clients within the cluster, and from those with a certificate that the
// server verified.
func ExampleServerConfig() {
	lim := weir.Must(weir.New(weir.Config{Queue: weir.Queue{Size: 100}}))
	cluster, err := trust.Networks("10.0.0.0/8")
	if err != nil {
		return
	}
	limits := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{
		Trust:       trust.Either(cluster, trust.Verified),
		EachMessage: true,
	})
	serving(grpc.NewServer(limits.Options()...), "check")
	// Output: check OK
}

// A client that holds back calls that its downstream cannot take.
func ExampleLimitClient() {
	lim := weir.Must(weir.New(weir.Config{Name: "billing", Max: 1}))
	limits := weirgrpc.LimitClient(weirgrpc.One(lim))
	conn, err := grpc.NewClient("billing.internal:443", append(limits.Options(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()

	permit, _ := lim.TryAcquire(context.Background()) // somebody else has the only slot
	defer permit.Release()
	err = conn.Invoke(context.Background(), "/billing.Billing/Charge", nil, nil)
	fmt.Println(status.Code(err), errors.Is(err, weir.ErrLimitReached))
	fmt.Println(err)
	// Output:
	// ResourceExhausted true
	// weir: limiter "billing" refused: limit reached
}

func ExampleRetryAfter() {
	lim := weir.Must(weir.New(weir.Config{Max: 1}))
	permit, _ := lim.TryAcquire(context.Background())
	defer permit.Release()
	limits := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{})
	_, err := limits.Unary(context.Background(), nil, &grpc.UnaryServerInfo{}, nil)

	after, told := weirgrpc.RetryAfter(err)
	fmt.Println(told, after > 0)
	// Output: true true
}

// A call is tried again when the server said when to come back.
func ExampleClassify() {
	downstream, err := retry.New(retry.Config{Name: "billing", Classify: weirgrpc.Classify})
	if err != nil {
		return
	}
	err = downstream.Do(context.Background(), func(context.Context) error {
		return nil // as _, err := billing.Charge(ctx, req)
	})
	fmt.Println(err, downstream.Snapshot().Attempts)
	// Output: <nil> 1
}

// Each attempt asks the limiter for a slot.
func ExampleRetryClient() {
	downstream, _ := retry.New(retry.Config{Name: "billing", Attempts: 2, Backoff: time.Millisecond})
	lim := weir.Must(weir.New(weir.Config{Name: "billing", Max: 1}))
	opts := append(weirgrpc.RetryClient(downstream).Options(), weirgrpc.LimitClient(weirgrpc.One(lim)).Options()...)
	conn, err := grpc.NewClient("billing.internal:443", append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		return
	}
	permit, _ := lim.TryAcquire(context.Background()) // somebody else has the only slot
	defer permit.Release()
	err = conn.Invoke(context.Background(), "/billing.Billing/Charge", nil, nil)
	fmt.Println(status.Code(err), downstream.Snapshot().Attempts)
	// Output: ResourceExhausted 2
}
