package weirconnect_test

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"testing"

	"connectrpc.com/connect"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirconnect"
)

// limited returns a client of a server behind the limiter.
func limited(t *testing.T, s *service, lim *weir.Limiter, each bool) *connect.Client[bytes, bytes] {
	t.Helper()
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{EachMessage: each})
	return streamer(start(t, s, 2, server.Option()))
}

// TestOnce admits a stream when it begins, and then holds no slot.
func TestOnce(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	client := limited(t, &service{}, lim, false)
	first := client.CallBidiStream(t.Context())
	exchange(t, first)
	second := client.CallBidiStream(t.Context())
	exchange(t, second)

	empty := limittest.Fill(t, lim)
	refused := client.CallBidiStream(t.Context())
	_ = refused.Send(nil)
	_, err := refused.Receive()
	if _, ok := weirconnect.RetryAfter(err); !ok || connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("of a full limiter: %v", err)
	}
	exchange(t, first) // continues
	empty()
	finish(t, first)
	finish(t, second)
	limittest.Check(t, lim, limittest.Taught{Ignored: 3}) // two streams and the permit that filled it
}

// TestEachMessage holds a slot between a message and the handler's next call of the stream.
func TestEachMessage(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	check := func(when string, want int) {
		t.Helper()
		if got := lim.Snapshot().InFlight; got != want {
			t.Errorf("%s: in flight %d, want %d", when, got, want)
		}
	}
	client := limited(t, &service{stream: func(_ context.Context, stream *echoServer) error {
		check("at first", 0)
		for {
			message, err := stream.Receive()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			check("at work", 1)
			if err := stream.Send(message); err != nil {
				return err
			}
			check("answered", 0)
		}
	}}, lim, true)
	stream := client.CallBidiStream(t.Context())
	for range 3 {
		exchange(t, stream)
	}
	finish(t, stream)
	limittest.Check(t, lim, limittest.Taught{Succeeded: 3})
}

// TestMessagesTeach by the next call of the stream, and the last one by the end of the handler.
func TestMessagesTeach(t *testing.T) {
	for name, c := range map[string]struct {
		work func(*echoServer) error
		want limittest.Taught
	}{
		"asks for the next": {func(s *echoServer) error { _, err := s.Receive(); return err }, limittest.Taught{Succeeded: 1}},
		"sends a header":    {func(s *echoServer) error { _ = s.Send(nil); return connect.NewError(connect.CodeNotFound, nil) }, limittest.Taught{Ignored: 1}},
		"returns":           {func(*echoServer) error { return nil }, limittest.Taught{Succeeded: 1}},
		"fails":             {func(*echoServer) error { return connect.NewError(connect.CodeInternal, nil) }, limittest.Taught{Failed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 1, weir.Queue{})
			client := limited(t, &service{stream: func(_ context.Context, stream *echoServer) error {
				must.Have(stream.Receive())(t)
				return c.work(stream)
			}}, lim, true)
			stream := client.CallBidiStream(t.Context())
			must.Do(t, stream.Send(&bytes{}))
			must.Do(t, stream.CloseRequest())
			_, _ = stream.Receive()
			limittest.Idle(t, lim)
			limittest.Check(t, lim, c.want)
		})
	}
}

// TestOneRequest checks that a call holds its slot until the first response, though Connect looks
// for another request.
func TestOneRequest(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	server := weirconnect.LimitServer(weirconnect.One(lim), weirconnect.ServerConfig{EachMessage: true})
	handler := connect.NewServerStreamHandler(pingPong,
		func(_ context.Context, _ *connect.Request[bytes], stream *connect.ServerStream[bytes]) error {
			if n := lim.Snapshot().InFlight; n != 1 {
				t.Errorf("in flight %d at work, want 1", n)
			}
			err := stream.Send(&bytes{})
			if n := lim.Snapshot().InFlight; n != 0 {
				t.Errorf("in flight %d after the response, want 0", n)
			}
			return err
		}, connect.WithInterceptors(server))
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	client := connect.NewClient[bytes, bytes](srv.Client(), srv.URL+pingPong)
	for full, want := range map[bool]connect.Code{false: 0, true: connect.CodeResourceExhausted} {
		empty := func() {}
		if full {
			empty = limittest.Fill(t, lim)
		}
		stream := must.Have(client.CallServerStream(t.Context(), connect.NewRequest(&bytes{})))(t)
		for stream.Receive() {
		}
		if err := stream.Err(); (err != nil) != full || full && connect.CodeOf(err) != want {
			t.Errorf("full is %v: %v", full, err)
		}
		must.Do(t, stream.Close())
		empty()
	}
	limittest.Check(t, lim, limittest.Taught{Succeeded: 1, Ignored: 1}) // and the permit that filled it
}

// A stream of a client is admitted when it begins, and then holds no slot.
func TestClientStreams(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	limits := weirconnect.LimitClient(weirconnect.One(lim))
	client := streamer(start(t, &service{}, 2), connect.WithInterceptors(limits))
	first := client.CallBidiStream(t.Context())
	exchange(t, first)
	empty := limittest.Fill(t, lim)
	refused := client.CallBidiStream(t.Context())
	refused.RequestHeader().Set("Any", "value")
	_, received := refused.Receive()
	for _, err := range []error{refused.Send(&bytes{}), received} {
		if !errors.Is(err, weir.ErrLimitReached) || connect.CodeOf(err) != connect.CodeResourceExhausted {
			t.Errorf("of a full limiter: %v", err)
		}
	}
	must.Do(t, errors.Join(refused.CloseRequest(), refused.CloseResponse()))
	empty()
	finish(t, first)
	limittest.Check(t, lim, limittest.Taught{Ignored: 2})
}
