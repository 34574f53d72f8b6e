package weirgrpc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func TestHandlersTeachByTheirCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want limittest.Taught
	}{
		{status.Error(codes.Internal, ""), limittest.Taught{Failed: 1}},
		{fmt.Errorf("wrapped: %w", status.Error(codes.NotFound, "")), limittest.Taught{Ignored: 1}},
		{errors.New("without a code"), limittest.Taught{Failed: 1}},
		{context.DeadlineExceeded, limittest.Taught{TimedOut: 1}},
		{context.Canceled, limittest.Taught{Ignored: 1}},
		{status.Error(codes.Code(99), ""), limittest.Taught{Failed: 1}},
	} {
		lim := limittest.Fixed(t, 1, weir.Queue{})
		client := limited(t, &service{unary: func(context.Context) error { return c.err }}, lim, weirgrpc.ServerConfig{})
		if _, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}); err == nil {
			t.Errorf("%v: no error", c.err)
		}
		limittest.Check(t, lim, c.want)
	}
}

// TestRefusal shows the client's view of one, from the interceptors and from the tap.
func TestRefusal(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{})
	unary := grpc.ChainUnaryInterceptor(server.Unary)
	for name, opts := range map[string][]grpc.ServerOption{"interceptor": {unary}, "tap": server.Options()} {
		t.Run(name, func(t *testing.T) {
			client := testpb.NewBenchmarkServiceClient(dial(t, start(t, &service{}, opts...)))
			must.Have(client.UnaryCall(t.Context(), &testpb.SimpleRequest{}))(t)
			defer limittest.Fill(t, lim)()
			before := lim.Snapshot()

			var trailer metadata.MD
			_, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}, grpc.Trailer(&trailer))
			if got := status.Convert(err); got.Code() != codes.ResourceExhausted || got.Message() != "refused: limit reached" {
				t.Errorf("%v: %q", got.Code(), got.Message())
			}
			after, ok := weirgrpc.RetryAfter(err)
			if !ok || after < 100*time.Millisecond || after > 60*time.Second || after%time.Millisecond != 0 {
				t.Errorf("retry after %v, %v", after, ok)
			}
			pushback := strings.Join(trailer.Get("grpc-retry-pushback-ms"), ",")
			if want := strconv.FormatInt(after.Milliseconds(), 10); name == "interceptor" && pushback != want {
				t.Errorf("pushback %q, want %q", pushback, want)
			}
			now := lim.Snapshot()
			if n := now.Refused[weir.ReasonLimitReached] - before.Refused[weir.ReasonLimitReached]; n != 1 {
				t.Errorf("counted %d refusals, want 1", n)
			}
			if now.InFlight != 1 || now.Admitted != before.Admitted {
				t.Errorf("in flight %d, admitted %d: it took a slot", now.InFlight, now.Admitted-before.Admitted)
			}
		})
	}
}

// A closed limiter names no time to come back: another server may take the call at once.
func TestRefusalOfAClosedLimiter(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	lim.Close()
	client := limited(t, &service{}, lim, weirgrpc.ServerConfig{})
	var trailer metadata.MD
	_, err := client.UnaryCall(t.Context(), message, grpc.Trailer(&trailer))
	if _, ok := weirgrpc.RetryAfter(err); ok || status.Code(err) != codes.Unavailable || len(trailer.Get("grpc-retry-pushback-ms")) > 0 {
		t.Errorf("%v, trailer %v", err, trailer)
	}
}

func TestMistakesPanic(t *testing.T) {
	limittest.Panics(t, map[string]func(){
		"no function":   func() { weirgrpc.LimitServer(nil, weirgrpc.ServerConfig{}) },
		"Exempt of nil": func() { weirgrpc.Exempt(nil, "grpc.health.v1.Health") },
		"One of nil":    func() { weirgrpc.One(nil) },
		"One of no set": func() { weirgrpc.One((*weir.Limiter)(nil)) },
		"ByMethod":      func() { weirgrpc.ByMethod(nil) },
		"client":        func() { weirgrpc.LimitClient(nil) },
		"no client":     func() { weirgrpc.RetryClient(nil) },
	})
}

// TestHandlersThatPanicOrExit lose no slot, where another interceptor recovers. gRPC never answers
// a call whose handler ends its goroutine.
func TestHandlersThatPanicOrExit(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("broken") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 2, weir.Queue{})
			server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{EachMessage: true})
			working := make(chan struct{}, 2)
			work := func() { working <- struct{}{}; end() }
			recovered := func(err *error) {
				if r := recover(); r != nil {
					*err = status.Error(codes.Internal, fmt.Sprint(r))
				}
			}
			client := testpb.NewBenchmarkServiceClient(dial(t, start(t, &service{
				unary:  func(context.Context) error { work(); return nil },
				stream: func(s echoServer) error { _, _ = s.Recv(); work(); return nil },
			}, append([]grpc.ServerOption{
				grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
					defer recovered(&err)
					return next(ctx, req)
				}),
				grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
					defer recovered(&err)
					return next(srv, s)
				}),
			}, server.Options()...)...)))
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			go func() { _, _ = client.UnaryCall(ctx, message) }()
			_ = open(ctx, t, client).Send(message)
			<-working
			<-working
			limittest.Idle(t, lim)
			limittest.Check(t, lim, limittest.Taught{Failed: 2})
		})
	}
}

// TestInventedMethods open no compartment and are answered by gRPC, or by an UnknownServiceHandler
// within the bound of the set.
func TestInventedMethods(t *testing.T) {
	for name, unknown := range map[string]bool{"unknown": false, "forwarded": true} {
		t.Run(name, func(t *testing.T) {
			const most = 3
			set := must.Have(bulkhead.New(bulkhead.Config{MaxKeys: most}))(t)
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
			err := conn.Invoke(t.Context(), "/invented/"+strings.Repeat("x", bulkhead.MaxKeyLength), message, &testpb.SimpleResponse{})
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

func TestCancelledCallsLeaveNothing(t *testing.T) {
	lim, ours := limittest.Fixed(t, 8, weir.Queue{Size: 8}), limittest.Fixed(t, 1000, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{EachMessage: true})
	limits := weirgrpc.LimitClient(weirgrpc.One(ours))
	addr := start(t, &service{unary: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, server.Options()...)
	client := testpb.NewBenchmarkServiceClient(dial(t, addr, limits.Options()...))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = client.UnaryCall(gone, message) // which connects
	limittest.CancelCalls(t, 2000, func(ctx context.Context, i int) {
		if i%4 > 0 {
			_, _ = client.UnaryCall(ctx, message)
		} else if stream, err := client.StreamingCall(ctx); err == nil {
			_ = stream.Send(message)
		}
	}, func() {}, lim, ours)
}
