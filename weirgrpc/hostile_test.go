package weirgrpc_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// TestHandlersThatPanic lose no slot, where another interceptor recovers.
func TestHandlersThatPanic(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
	recovered := func(err *error) {
		if r := recover(); r != nil {
			*err = status.Error(codes.Internal, fmt.Sprint(r))
		}
	}
	addr := start(t, &service{
		unary:  func(context.Context) error { panic("unary") },
		stream: func(s echoServer) error { _, _ = s.Recv(); panic("stream") },
	}, append([]grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
			defer recovered(&err)
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
			defer recovered(&err)
			return next(srv, s)
		}),
	}, server.Options()...)...)
	client := testpb.NewBenchmarkServiceClient(dial(t, addr))
	if _, err := client.UnaryCall(t.Context(), message); status.Convert(err).Message() != "unary" {
		t.Errorf("%v", err)
	}
	stream := open(t.Context(), t, client)
	_ = stream.Send(message)
	if _, err := stream.Recv(); status.Convert(err).Message() != "stream" {
		t.Errorf("%v", err)
	}
	limittest.Idle(t, lim)
	limittest.Check(t, lim, limittest.Taught{Failed: 2})
}

// TestHandlersThatEndTheirGoroutine lose no slot either. gRPC answers such a call never.
func TestHandlersThatEndTheirGoroutine(t *testing.T) {
	lim := limittest.Fixed(t, 2, weir.Queue{})
	ended := make(chan struct{}, 2)
	exit := func() { ended <- struct{}{}; runtime.Goexit() }
	client := limited(t, &service{
		unary:  func(context.Context) error { exit(); return nil },
		stream: func(s echoServer) error { _, _ = s.Recv(); exit(); return nil },
	}, lim, weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() { _, _ = client.UnaryCall(ctx, message) }()
	stream := open(ctx, t, client)
	_ = stream.Send(message)
	<-ended
	<-ended
	limittest.Idle(t, lim)
	limittest.Check(t, lim, limittest.Taught{Failed: 2})
}

// TestPeersThatLeave in the midst of a call or a stream.
func TestPeersThatLeave(t *testing.T) {
	lim := limittest.Fixed(t, 3, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
	working := make(chan struct{}, 3)
	addr := start(t, &service{
		unary: func(ctx context.Context) error { working <- struct{}{}; <-ctx.Done(); return nil },
		stream: func(s echoServer) error {
			for {
				if _, err := s.Recv(); err != nil {
					return err
				}
				working <- struct{}{}
			}
		},
	}, server.Options()...)
	conn := dial(t, addr)
	client := testpb.NewBenchmarkServiceClient(conn)
	go func() { _, _ = client.UnaryCall(t.Context(), message) }()
	for range 2 {
		_ = open(t.Context(), t, client).Send(message)
	}
	for range 3 {
		<-working
	}
	_ = conn.Close()
	limittest.Idle(t, lim)
	if s := lim.Snapshot(); s.Ignored < 1 || s.Failed != 0 || s.Succeeded > 2 { // the streams asked for the next message before
		t.Errorf("%+v", s)
	}
}

// TestPeerThatNeverReads holds no slot while the server's sends block on it.
func TestPeerThatNeverReads(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	sent, stopped := make(chan struct{}), make(chan error, 1)
	client := limited(t, &service{stream: func(s echoServer) error {
		_, err := s.Recv()
		large := &testpb.SimpleResponse{Payload: &testpb.Payload{Body: make([]byte, 1<<20)}}
		for i := 0; err == nil; i++ {
			if i == 1 {
				close(sent)
			}
			err = s.Send(large)
		}
		stopped <- err
		return err
	}}, lim, weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
	ctx, leave := context.WithCancel(t.Context())
	_ = open(ctx, t, client).Send(message)
	<-sent
	if _, err := client.UnaryCall(t.Context(), message); err != nil {
		t.Errorf("another call: %v", err)
	}
	leave()
	if err := <-stopped; err == nil {
		t.Error("it went on sending")
	}
	limittest.Idle(t, lim)
}

// TestGiganticMessages are gRPC's to refuse, before a slot is taken.
func TestGiganticMessages(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	client := limited(t, &service{}, lim, weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
	gigantic := &testpb.SimpleRequest{Payload: &testpb.Payload{Body: make([]byte, 5<<20)}}
	if _, err := client.UnaryCall(t.Context(), gigantic); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("%v", err)
	}
	stream := open(t.Context(), t, client)
	_ = stream.Send(gigantic)
	if _, err := stream.Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("%v", err)
	}
	if n := lim.Snapshot().Admitted; n != 0 {
		t.Errorf("%d admitted", n)
	}
}

// TestHostileMetadata comes from a peer that is trusted.
func TestHostileMetadata(t *testing.T) {
	var got weir.Priority
	client := limited(t, &service{unary: func(ctx context.Context) error { got = weir.PriorityFrom(ctx); return nil }},
		limittest.Fixed(t, 1, weir.Queue{}), weirgrpc.ServerConfig{Trust: networks(t, "127.0.0.1")})
	for name, sent := range map[string]metadata.MD{
		"many":      {trust.Key: strings.Split(strings.Repeat("critical,", 1000), ",")},
		"long":      {trust.Key: {strings.Repeat("critical", 1000)}},
		"spaces":    {trust.Key: {"critical high"}},
		"empty":     {trust.Key: {""}},
		"binary":    {trust.Key + "-bin": {"critical\x00\xff"}},
		"tolerated": {"grpc-previous-rpc-attempts": {"-1"}, "weir": {"x"}},
	} {
		got = weir.Critical
		if _, err := client.UnaryCall(metadata.NewOutgoingContext(t.Context(), sent), message); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got != weir.Normal {
			t.Errorf("%s: priority %v", name, got)
		}
	}
}

// TestInventedMethods open no compartment and are answered by gRPC, or by an UnknownServiceHandler
// within the bound of the set.
func TestInventedMethods(t *testing.T) {
	for name, unknown := range map[string]bool{"unknown": false, "forwarded": true} {
		t.Run(name, func(t *testing.T) {
			const most = 3
			set, err := bulkhead.New(bulkhead.Config{MaxKeys: most})
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			byMethod := weirgrpc.ByMethod(set)
			server := weirgrpc.LimitServer(func(method string) weir.Admitter { asked++; return byMethod(method) }, weirgrpc.ServerConfig{})
			opts := server.Options()
			want := codes.Unimplemented
			if unknown {
				want = codes.NotFound
				opts = append(opts, grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error { return status.Error(codes.NotFound, "") }))
			}
			conn := dial(t, start(t, &service{}, opts...))
			const calls = 100
			for i := range calls {
				err := conn.Invoke(t.Context(), fmt.Sprintf("/invented/%d", i%50), message, &testpb.SimpleResponse{})
				if status.Code(err) != want {
					t.Fatalf("%v", err)
				}
			}
			err = conn.Invoke(t.Context(), "/invented/"+strings.Repeat("x", bulkhead.MaxKeyLength), message, &testpb.SimpleResponse{})
			if unknown {
				want = codes.InvalidArgument
			}
			if status.Code(err) != want {
				t.Errorf("a long one: %v", err)
			}
			if n := len(set.Snapshot().ByKey); n > most+1 { // bulkhead.Overflow is one
				t.Errorf("%d compartments", n)
			}
			if !unknown && asked > 0 || unknown && asked != calls+1 {
				t.Errorf("asked %d times: want never, or each time because it is not remembered", asked)
			}
		})
	}
}

func TestCancelledCallsLeaveNothing(t *testing.T) { cancelCalls(t, 2000) }

// TestManyCancelledCallsLeaveNothing takes ten times as long under the race detector.
func TestManyCancelledCallsLeaveNothing(t *testing.T) {
	longtest.Skip(t)
	if raceEnabled {
		t.Skip("see TestCancelledCallsLeaveNothing")
	}
	cancelCalls(t, 100_000)
}

// cancelCalls has callers leave at every stage: before they are sent, in the queue, at work and in
// a stream.
func cancelCalls(t *testing.T, calls int) {
	lim := limittest.Fixed(t, 8, weir.Queue{Size: 8})
	ours := limittest.Fixed(t, 1000, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
	limits := weirgrpc.LimitClient(weirgrpc.One(ours), weirgrpc.ClientConfig{Streams: weirgrpc.EachMessage})
	addr := start(t, &service{unary: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, server.Options()...)
	conn := dial(t, addr, limits.Options()...)
	client := testpb.NewBenchmarkServiceClient(conn)
	_, _ = client.UnaryCall(weir.WithPriority(expired(t), weir.Low), message)
	before := runtime.NumGoroutine()

	const callers = 32
	done := make(chan struct{})
	for caller := range callers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := caller; i < calls; i += callers {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%8)*50*time.Microsecond)
				if i%4 > 0 {
					_, _ = client.UnaryCall(ctx, message)
				} else if stream, err := client.StreamingCall(ctx); err == nil {
					_ = stream.Send(message)
				}
				cancel()
			}
		}()
	}
	for range callers {
		<-done
	}
	limittest.Idle(t, lim)
	limittest.Idle(t, ours)
	if s := lim.Snapshot(); s.Queued != 0 || s.InFlight != 0 {
		t.Errorf("queued %d, in flight %d", s.Queued, s.InFlight)
	}
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before+8; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// expired returns a context that has ended.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
