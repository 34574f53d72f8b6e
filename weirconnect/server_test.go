package weirconnect_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirconnect"
	"github.com/weir-go/weir/weirhttp"
)

// protocols are those of Connect, by the HTTP that each can use.
var protocols = map[string]struct {
	http   int
	option []connect.ClientOption
}{
	"connect, HTTP/1.1":  {1, nil},
	"connect, HTTP/2":    {2, nil},
	"grpc, HTTP/2":       {2, []connect.ClientOption{connect.WithGRPC()}},
	"grpc-web, HTTP/1.1": {1, []connect.ClientOption{connect.WithGRPCWeb()}},
}

// TestRefusal shows the client's view of one, from the interceptor and from the gate.
func TestRefusal(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
	for by, option := range map[string]connect.HandlerOption{"interceptor": connect.WithInterceptors(server), "gate": server.Option()} {
		for name, p := range protocols {
			t.Run(by+", "+name, func(t *testing.T) {
				client := caller(start(t, &service{unary: func(context.Context) error { t.Error("it ran"); return nil }}, p.http, option), p.option...)
				defer limittest.Fill(t, lim)()
				before := lim.Snapshot().Refused[weir.ReasonLimitReached]
				err := call(t.Context(), client)
				refused, ok := errors.AsType[*connect.Error](err)
				if !ok || refused.Code() != connect.CodeResourceExhausted || refused.Message() != "refused: limit reached" {
					t.Fatalf("%v", err)
				}
				after, ok := weirconnect.RetryAfter(err)
				if !ok || after < 100*time.Millisecond || after > 60*time.Second || after%time.Millisecond != 0 {
					t.Errorf("retry after %v, %v", after, ok)
				}
				want := strconv.FormatInt(after.Milliseconds(), 10)
				if len(p.option) == 0 {
					want = ""
				}
				if got := refused.Meta().Get("Grpc-Retry-Pushback-Ms"); got != want {
					t.Errorf("pushback %q, want %q", got, want)
				}
				if s := lim.Snapshot(); s.Refused[weir.ReasonLimitReached] != before+1 || s.InFlight != 1 {
					t.Errorf("refused %d, in flight %d", s.Refused[weir.ReasonLimitReached]-before, s.InFlight)
				}
			})
		}
	}
}

func TestHandlersTeachByTheirCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want limittest.Taught
	}{
		{connect.NewError(connect.CodeInternal, nil), limittest.Taught{Failed: 1}},
		{connect.NewError(connect.CodeNotFound, nil), limittest.Taught{Ignored: 1}},
		{connect.NewError(connect.CodeDeadlineExceeded, nil), limittest.Taught{TimedOut: 1}},
		{connect.NewNotModifiedError(http.Header{}), limittest.Taught{Succeeded: 1}},
		{errors.New("without a code"), limittest.Taught{Failed: 1}},
		{context.DeadlineExceeded, limittest.Taught{TimedOut: 1}},
		{context.Canceled, limittest.Taught{Ignored: 1}},
	} {
		lim := limittest.Fixed(t, 1, weir.Queue{})
		server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
		if err := call(t.Context(), caller(start(t, &service{unary: func(context.Context) error { return c.err }}, 1, server.Option()))); err == nil {
			t.Errorf("%v: no error", c.err)
		}
		limittest.Check(t, lim, c.want)
	}
}

func TestByMethodAndExempt(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{Default: bulkhead.Compartment{Config: weir.Config{Min: 1, Max: 1}}}))(t)
	for _, key := range []string{unaryCall, upload} {
		permit := must.Have(set.Acquire(t.Context(), key))(t)
		defer permit.Release()
	}
	server := weirconnect.LimitServer(weirconnect.Exempt(weirconnect.ByMethod(set), upload), weirconnect.ServerConfig{})
	srv := start(t, &service{}, 2, server.Option())
	if err := call(t.Context(), caller(srv)); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("of the procedure: %v", err)
	}
	stream := connect.NewClient[bytes, bytes](srv.Client(), srv.URL+upload).CallClientStream(t.Context())
	if _, err := stream.CloseAndReceive(); err != nil {
		t.Errorf("an exempt one: %v", err)
	}
	other := streamer(srv).CallBidiStream(t.Context()) // a key of its own
	exchange(t, other)
	finish(t, other)
}

// Limits of servers leave clients alone, limits of clients servers, and both exempt procedures.
func TestOtherSidesAndExemptProcedures(t *testing.T) {
	closed := limittest.Fixed(t, 1, weir.Queue{})
	closed.Close()
	all := weirconnect.One(closed)
	none := weirconnect.Exempt(all, "test.v1.Service")
	servers := connect.WithInterceptors(weirconnect.LimitClient(all), weirconnect.LimitServer(none, weirconnect.ServerConfig{}))
	clients := connect.WithInterceptors(weirconnect.LimitServer(all, weirconnect.ServerConfig{}), weirconnect.LimitClient(none))
	srv := start(t, &service{}, 2, servers)
	must.Do(t, call(t.Context(), caller(srv, clients)))
	stream := streamer(srv, clients).CallBidiStream(t.Context())
	exchange(t, stream)
	finish(t, stream)
}

// TestPriority of a header is that of the handler's context, if the peer is trusted; the client
// sends it on.
func TestPriority(t *testing.T) {
	got := make(chan weir.Priority, 1)
	srv := start(t, &service{
		unary:  func(ctx context.Context) error { got <- weir.PriorityFrom(ctx); return nil },
		stream: func(ctx context.Context, _ *echoServer) error { got <- weir.PriorityFrom(ctx); return nil },
	}, 2)
	limits := connect.WithInterceptors(weirconnect.LimitClient(weirconnect.One(limittest.Fixed(t, 1, weir.Queue{}))))
	for _, want := range []weir.Priority{weir.PriorityCritical, weir.PriorityNormal, weir.PriorityLow} {
		ctx := weir.WithPriority(t.Context(), want)
		must.Do(t, call(ctx, caller(srv, limits)))
		if p := <-got; p != want {
			t.Errorf("a call: %v, want %v", p, want)
		}
		stream := streamer(srv, limits).CallBidiStream(ctx)
		_ = stream.Send(nil)
		if p := <-got; p != want {
			t.Errorf("a stream: %v, want %v", p, want)
		}
		_ = stream.CloseRequest()
		_ = stream.CloseResponse()
	}
	req := connect.NewRequest(&bytes{})
	req.Header()[weirhttp.PriorityHeader] = []string{"critical", "critical"}
	must.Have(caller(srv).CallUnary(t.Context(), req))(t)
	if p := <-got; p != weir.PriorityNormal {
		t.Errorf("of two values: %v", p)
	}
}

func TestMistakesPanic(t *testing.T) {
	limittest.Panics(t, map[string]func(){
		"no function": func() { weirconnect.LimitServer(nil, weirconnect.ServerConfig{}) },
		"client":      func() { weirconnect.LimitClient(nil) },
		"no client":   func() { weirconnect.RetryClient(nil) },
	})
}

// The deadlines of clients do not count on a server, which does not know the clients.
func TestDeadlinesOfClients(t *testing.T) {
	lim := limittest.Dated{Limiter: limittest.Fixed(t, 1, weir.Queue{}), Counts: make(chan bool, 1)}
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
	client := caller(start(t, &service{unary: func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Error("the handler has no deadline")
		}
		return nil
	}}, 2, server.Option()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	must.Do(t, call(ctx, client))
	if <-lim.Counts {
		t.Error("the deadline counts")
	}
}

// TestHandlersThatPanicOrExit lose no slot. net/http ends the connection, or the stream of HTTP/2.
func TestHandlersThatPanicOrExit(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(http.ErrAbortHandler) }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 2, weir.Queue{})
			server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{EachMessage: true})
			working := make(chan struct{}, 2)
			srv := start(t, &service{
				unary: func(context.Context) error { working <- struct{}{}; end(); return nil },
				stream: func(_ context.Context, s *echoServer) error {
					_, _ = s.Receive()
					working <- struct{}{}
					end()
					return nil
				},
			}, 2, server.Option())
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			go func() { _ = call(ctx, caller(srv)) }()
			_ = streamer(srv).CallBidiStream(ctx).Send(&bytes{})
			<-working
			<-working
			limittest.Idle(t, lim)
			limittest.Check(t, lim, limittest.Taught{Failed: 2})
		})
	}
}

// TestPeersThatLeave in the midst of a call or a stream, and one that sends half a request.
func TestPeersThatLeave(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("HTTP/", version), func(t *testing.T) {
			lim := limittest.Fixed(t, 2, weir.Queue{})
			server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{EachMessage: true})
			working := make(chan struct{}, 1)
			srv := start(t, &service{unary: func(ctx context.Context) error { working <- struct{}{}; <-ctx.Done(); return nil }}, version, server.Option())
			go func() { _ = call(t.Context(), caller(srv)) }()
			<-working
			half, sent := io.Pipe()
			req := must.Have(http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+unaryCall, half))(t)
			req.Header.Set("Content-Type", "application/proto")
			go func() {
				if res, err := srv.Client().Do(req); err == nil {
					_ = res.Body.Close()
				}
			}()
			_, _ = sent.Write([]byte{0x0a})
			if n := lim.Snapshot().InFlight; n != 1 {
				t.Errorf("in flight %d: half a request holds a slot", n)
			}
			srv.CloseClientConnections()
			_ = sent.Close()
			limittest.Idle(t, lim)
			limittest.Check(t, lim, limittest.Taught{Ignored: 1})
		})
	}
}

func TestCancelledCallsLeaveNothing(t *testing.T) {
	lim, ours := limittest.Fixed(t, 8, weir.Queue{Size: 8}), limittest.Fixed(t, 1000, weir.Queue{})
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{EachMessage: true})
	limits := connect.WithInterceptors(weirconnect.LimitClient(weirconnect.One(ours)))
	srv := start(t, &service{unary: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, 2, server.Option())
	unary, streams := caller(srv, limits), streamer(srv, limits)
	if err := call(t.Context(), connect.NewClient[bytes, bytes](srv.Client(), srv.URL+"/none")); err == nil {
		t.Fatal("there is no such procedure")
	}
	limittest.CancelCalls(t, 1000, func(ctx context.Context, i int) {
		if i%4 > 0 {
			_ = call(ctx, unary)
			return
		}
		ctx, leave := context.WithCancel(ctx)
		stream := streams.CallBidiStream(ctx)
		_ = stream.Send(&bytes{})
		leave()
		_ = stream.CloseRequest() // or the HTTP client continues waiting for what it sends
		_ = stream.CloseResponse()
	}, srv.Client().CloseIdleConnections, lim, ours)
}
