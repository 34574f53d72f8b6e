package weirgrpc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func TestCallsAreLimitedAndMeasured(t *testing.T) {
	lim := limittest.Fixed(t, 2, weir.Queue{})
	client := limited(t, &service{unary: func(context.Context) error {
		if n := lim.Snapshot().InFlight; n != 1 {
			t.Errorf("in flight %d, want 1", n)
		}
		return nil
	}}, lim, weirgrpc.ServerConfig{})
	for range 3 {
		if _, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	limittest.Check(t, lim, limittest.Taught{Succeeded: 3})
}

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
			if _, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}); err != nil {
				t.Fatal(err)
			}
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

// TestTapLetsCallsQueue: it neither waits nor refuses while the queue has room.
func TestTapLetsCallsQueue(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{Size: 1, Timeout: time.Minute})
	client := limited(t, &service{}, lim, weirgrpc.ServerConfig{})
	if _, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}); err != nil {
		t.Fatal(err)
	}
	empty := limittest.Fill(t, lim)
	queued := make(chan error)
	go func() {
		_, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{})
		queued <- err
	}()
	for lim.Snapshot().Queued == 0 {
		if t.Context().Err() != nil {
			t.Fatal("nothing queues")
		}
		runtime.Gosched()
	}
	if _, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("beside a full queue: %v", err)
	}
	empty()
	if err := <-queued; err != nil {
		t.Errorf("the call that queued: %v", err)
	}
}

// TestRefusalCodes calls the interceptor without a server.
func TestRefusalCodes(t *testing.T) {
	call := func(ctx context.Context, admitter weir.Admitter) error {
		server := weirgrpc.LimitServer(weirgrpc.One(admitter), weirgrpc.ServerConfig{})
		_, err := server.Unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: unaryCall}, func(context.Context, any) (any, error) {
			t.Error("it ran")
			return nil, nil
		})
		return err
	}
	for name, c := range map[string]struct {
		end  func(context.Context) (context.Context, context.CancelFunc)
		code codes.Code
	}{
		"client left": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, codes.Canceled},
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, codes.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := limittest.Fixed(t, 1, weir.Queue{Size: 1, Timeout: time.Minute})
				defer limittest.Fill(t, lim)()
				ctx, cancel := c.end(t.Context())
				defer cancel()
				err := call(ctx, lim)
				if status.Code(err) != c.code {
					t.Errorf("%v", err)
				}
				if _, ok := weirgrpc.RetryAfter(err); ok {
					t.Error("is told to come back")
				}
				if s := lim.Snapshot(); s.Queued != 0 || s.InFlight != 1 {
					t.Errorf("queued %d, in flight %d", s.Queued, s.InFlight)
				}
			})
		})
	}
	t.Run("closed", func(t *testing.T) {
		lim := limittest.Fixed(t, 1, weir.Queue{})
		lim.Close()
		if err := call(t.Context(), lim); status.Code(err) != codes.Unavailable || !errors.Is(err, weir.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
	t.Run("bad key", func(t *testing.T) {
		var none *bulkhead.Handle
		if err := call(t.Context(), none); status.Code(err) != codes.InvalidArgument || !errors.Is(err, bulkhead.ErrKey) {
			t.Errorf("%v", err)
		}
	})
}

func TestByMethod(t *testing.T) {
	set, err := bulkhead.New(bulkhead.Config{ByKey: map[string]bulkhead.Compartment{
		unaryCall: {Config: weir.Config{Min: 1, Max: 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := weirgrpc.LimitServer(weirgrpc.ByMethod(set), weirgrpc.ServerConfig{})
	client := testpb.NewBenchmarkServiceClient(dial(t, start(t, &service{}, server.Options()...)))
	permit, err := set.Acquire(t.Context(), unaryCall)
	if err != nil {
		t.Fatal(err)
	}
	defer permit.Release()
	if _, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("of the full method: %v", err)
	}
	stream, err := client.StreamingFromClient(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		t.Errorf("of another: %v", err)
	}
}

func TestExempt(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	defer limittest.Fill(t, lim)()
	choose := weirgrpc.Exempt(weirgrpc.One(lim), healthpb.Health_ServiceDesc.ServiceName, pingPong)
	for method, exempt := range map[string]bool{
		healthpb.Health_Check_FullMethodName: true, healthpb.Health_Watch_FullMethodName: true, pingPong: true, unaryCall: false, "": false,
	} {
		if got := choose(method) == nil; got != exempt {
			t.Errorf("%q: exempt %v, want %v", method, got, exempt)
		}
	}

	server := weirgrpc.LimitServer(choose, weirgrpc.ServerConfig{})
	conn := dial(t, start(t, &service{}, server.Options()...))
	for range 2 {
		if _, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
			t.Errorf("health: %v", err)
		}
	}
	if _, err := testpb.NewBenchmarkServiceClient(conn).UnaryCall(t.Context(), &testpb.SimpleRequest{}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a call: %v", err)
	}
}

// TestNilLimiterExempts, so that a look-up in a map of limiters can be returned as it is.
func TestNilLimiterExempts(t *testing.T) {
	limiters := map[string]*weir.Limiter{}
	server := weirgrpc.LimitServer(func(method string) weir.Admitter { return limiters[method] }, weirgrpc.ServerConfig{})
	client := testpb.NewBenchmarkServiceClient(dial(t, start(t, &service{}, server.Options()...)))
	if _, err := client.UnaryCall(t.Context(), &testpb.SimpleRequest{}); err != nil {
		t.Error(err)
	}
}

func TestMistakesPanic(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	limittest.Panics(t, map[string]func(){
		"no function":    func() { weirgrpc.LimitServer(nil, weirgrpc.ServerConfig{}) },
		"One of nil":     func() { weirgrpc.One(nil) },
		"One of no set":  func() { weirgrpc.One((*weir.Limiter)(nil)) },
		"ByMethod":       func() { weirgrpc.ByMethod(nil) },
		"Streams":        func() { weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{Streams: 2}) },
		"client":         func() { weirgrpc.LimitClient(nil, weirgrpc.ClientConfig{}) },
		"client Streams": func() { weirgrpc.LimitClient(weirgrpc.One(lim), weirgrpc.ClientConfig{Streams: 9}) },
		"no client":      func() { weirgrpc.RetryClient(nil) },
	})
}

// TestHandlersThatPanicOrExit lose no slot, where another interceptor recovers. gRPC never answers
// a call whose handler ends its goroutine.
func TestHandlersThatPanicOrExit(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("broken") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 2, weir.Queue{})
			server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
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

func cancelCalls(t *testing.T, calls int) {
	lim, ours := limittest.Fixed(t, 8, weir.Queue{Size: 8}), limittest.Fixed(t, 1000, weir.Queue{})
	server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{Streams: weirgrpc.EachMessage})
	limits := weirgrpc.LimitClient(weirgrpc.One(ours), weirgrpc.ClientConfig{Streams: weirgrpc.EachMessage})
	addr := start(t, &service{unary: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, server.Options()...)
	client := testpb.NewBenchmarkServiceClient(dial(t, addr, limits.Options()...))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = client.UnaryCall(gone, message) // which connects
	limittest.CancelCalls(t, calls, func(ctx context.Context, i int) {
		if i%4 > 0 {
			_, _ = client.UnaryCall(ctx, message)
		} else if stream, err := client.StreamingCall(ctx); err == nil {
			_ = stream.Send(message)
		}
	}, func() {}, lim, ours)
}
