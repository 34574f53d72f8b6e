package weirconnect_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/weirconnect"
)

// TestHandlersThatPanicOrExit lose no slot. net/http ends the connection, or the stream of HTTP/2.
func TestHandlersThatPanicOrExit(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(http.ErrAbortHandler) }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 2, weir.Queue{})
			server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{Streams: weirconnect.EachMessage})
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
			server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{Streams: weirconnect.EachMessage})
			working := make(chan struct{}, 1)
			srv := start(t, &service{unary: func(ctx context.Context) error { working <- struct{}{}; <-ctx.Done(); return nil }}, version, server.Option())
			go func() { _ = call(t.Context(), caller(srv)) }()
			<-working
			half, sent := io.Pipe()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+unaryCall, half)
			if err != nil {
				t.Fatal(err)
			}
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

// TestPeerThatNeverReads holds no slot while the server's sends block on it.
func TestPeerThatNeverReads(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{Streams: weirconnect.EachMessage})
	sent, stopped := make(chan struct{}), make(chan error, 1)
	srv := start(t, &service{stream: func(_ context.Context, s *echoServer) error {
		_, err := s.Receive()
		large := &bytes{Value: make([]byte, 1<<20)}
		for i := 0; err == nil; i++ {
			if i == 1 {
				close(sent)
			}
			err = s.Send(large)
		}
		stopped <- err
		return err
	}}, 2, server.Option())
	stream := streamer(srv, connect.WithAcceptCompression("gzip", nil, nil)).CallBidiStream(t.Context())
	_ = stream.Send(&bytes{})
	_, _ = stream.Receive()
	<-sent
	if n := lim.Snapshot().InFlight; n != 0 {
		t.Errorf("in flight %d, want 0", n)
	}
	srv.CloseClientConnections()
	if err := <-stopped; err == nil {
		t.Error("it went on sending")
	}
	limittest.Idle(t, lim)
}

// TestGiganticMessages are Connect's to refuse, before a slot is taken.
func TestGiganticMessages(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{})
	srv := start(t, &service{}, 2, server.Option(), connect.WithReadMaxBytes(1<<20))
	_, err := caller(srv).CallUnary(t.Context(), connect.NewRequest(&bytes{Value: make([]byte, 2<<20)}))
	if connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("%v", err)
	}
	if n := lim.Snapshot().Admitted; n != 0 {
		t.Errorf("%d admitted", n)
	}
}

// TestHostileHeaders come from a peer that is trusted.
func TestHostileHeaders(t *testing.T) {
	var got weir.Priority
	client := caller(start(t, &service{unary: func(ctx context.Context) error { got = weir.PriorityFrom(ctx); return nil }}, 1))
	for _, value := range []string{"", "criticality", "-2", "critical, critical", strings.Repeat("critical", 1000)} {
		got = weir.Critical
		req := connect.NewRequest(&bytes{})
		req.Header().Set("Weir-Priority", value)
		if _, err := client.CallUnary(t.Context(), req); err != nil {
			t.Error(err)
		}
		if got != weir.Normal {
			t.Errorf("%.20q: priority %v", value, got)
		}
	}
}

// TestInventedProcedures are the mux's to refuse.
func TestInventedProcedures(t *testing.T) {
	asked := 0
	server := weirconnect.LimitServer(func(string) weir.Admitter { asked++; return nil }, weirconnect.ServerConfig{})
	srv := start(t, &service{}, 1, server.Option())
	for i := range 10 {
		err := call(t.Context(), connect.NewClient[bytes, bytes](srv.Client(), fmt.Sprintf("%s/invented/%d", srv.URL, i)))
		if connect.CodeOf(err) != connect.CodeUnimplemented {
			t.Errorf("%v", err)
		}
	}
	if asked > 0 {
		t.Errorf("asked for %d procedures", asked)
	}
}

func TestCancelledCallsLeaveNothing(t *testing.T) { cancelCalls(t, 1000) }

// TestManyCancelledCallsLeaveNothing takes ten times as long under the race detector.
func TestManyCancelledCallsLeaveNothing(t *testing.T) {
	longtest.Skip(t)
	if raceEnabled {
		t.Skip("see TestCancelledCallsLeaveNothing")
	}
	cancelCalls(t, 20_000)
}

// cancelCalls has callers leave at every stage: before they are sent, in the queue, at work and in
// a stream.
func cancelCalls(t *testing.T, calls int) {
	lim, ours := limittest.Fixed(t, 8, weir.Queue{Size: 8}), limittest.Fixed(t, 1000, weir.Queue{})
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{Streams: weirconnect.EachMessage})
	limits := connect.WithInterceptors(weirconnect.LimitClient(weirconnect.One(ours), weirconnect.ClientConfig{Streams: weirconnect.EachMessage}))
	srv := start(t, &service{unary: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, 2, server.Option())
	unary, streams := caller(srv, limits), streamer(srv, limits)
	if err := call(weir.WithPriority(t.Context(), weir.Low), connect.NewClient[bytes, bytes](srv.Client(), srv.URL+"/none")); err == nil {
		t.Fatal("there is no such procedure")
	}
	before := runtime.NumGoroutine()

	const callers = 32
	done := make(chan struct{})
	for caller := range callers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := caller; i < calls; i += callers {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%8)*50*time.Microsecond)
				if i%4 > 0 {
					_ = call(ctx, unary)
					cancel()
					continue
				}
				stream := streams.CallBidiStream(ctx)
				_ = stream.Send(&bytes{})
				cancel()
				_ = stream.CloseRequest() // or the HTTP client goes on waiting for what it sends
				_ = stream.CloseResponse()
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
	srv.Client().CloseIdleConnections() // net/http opened some to replace those of cancelled calls
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before+8; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
