package weirgrpc_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
)

type (
	echoServer = grpc.BidiStreamingServer[testpb.SimpleRequest, testpb.SimpleResponse]
	echoClient = grpc.BidiStreamingClient[testpb.SimpleRequest, testpb.SimpleResponse]
)

var message = &testpb.SimpleRequest{}

// open begins a stream.
func open(ctx context.Context, t *testing.T, client testpb.BenchmarkServiceClient) echoClient {
	t.Helper()
	return must.Have(client.StreamingCall(ctx))(t)
}

// exchange sends a message and waits for the answer.
func exchange(t *testing.T, stream echoClient) {
	t.Helper()
	must.Do(t, stream.Send(message))
	must.Have(stream.Recv())(t)
}

// finish ends a stream as a client that is through.
func finish(t *testing.T, stream echoClient) {
	t.Helper()
	must.Do(t, stream.CloseSend())
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("the end: %v, want io.EOF", err)
	}
}

// TestRefusedStream without a tap carries the pushback.
func TestRefusedStream(t *testing.T) {
	for _, each := range []bool{false, true} {
		lim := limittest.Fixed(t, 1, weir.Queue{})
		server := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{EachMessage: each})
		client := testpb.NewBenchmarkServiceClient(dial(t, start(t, &service{}, grpc.ChainStreamInterceptor(server.Stream))))
		empty := limittest.Fill(t, lim)
		stream := open(t.Context(), t, client)
		_ = stream.Send(message)
		_, err := stream.Recv()
		if status.Code(err) != codes.ResourceExhausted || len(stream.Trailer().Get("grpc-retry-pushback-ms")) != 1 {
			t.Errorf("each message %v: %v, trailer %v", each, err, stream.Trailer())
		}
		empty()
		limittest.Check(t, lim, limittest.Taught{Ignored: 1})
	}
}

// By default a stream is admitted when it begins, and then holds no slot.
func TestStreamsAreAdmittedOnce(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	client := limited(t, &service{}, lim, weirgrpc.ServerConfig{})
	first, second := open(t.Context(), t, client), open(t.Context(), t, client)
	exchange(t, first)
	exchange(t, second)
	finish(t, first)
	finish(t, second)
	limittest.Check(t, lim, limittest.Taught{Ignored: 2})
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
	client := limited(t, &service{stream: func(stream echoServer) error {
		check("at first", 0)
		for {
			_, err := stream.Recv()
			if err == io.EOF {
				check("at the end", 0)
				return nil
			}
			if err != nil {
				return err
			}
			check("at work", 1)
			if err := stream.Send(&testpb.SimpleResponse{}); err != nil {
				return err
			}
			check("answered", 0)
		}
	}}, lim, weirgrpc.ServerConfig{EachMessage: true})
	stream := open(t.Context(), t, client)
	for range 3 {
		exchange(t, stream)
	}
	finish(t, stream)
	limittest.Idle(t, lim)
	limittest.Check(t, lim, limittest.Taught{Succeeded: 3})
}

// TestMessagesTeach by the next call of the stream, and the last one by the end of the handler.
func TestMessagesTeach(t *testing.T) {
	for name, c := range map[string]struct {
		work func(echoServer) error
		want limittest.Taught
	}{
		"asks for the next": {func(s echoServer) error { _, err := s.Recv(); return err }, limittest.Taught{Succeeded: 1}},
		"returns":           {func(echoServer) error { return nil }, limittest.Taught{Succeeded: 1}},
		"fails":             {func(echoServer) error { return status.Error(codes.Internal, "") }, limittest.Taught{Failed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 1, weir.Queue{})
			client := limited(t, &service{stream: func(stream echoServer) error {
				must.Have(stream.Recv())(t)
				return c.work(stream)
			}}, lim, weirgrpc.ServerConfig{EachMessage: true})
			stream := open(t.Context(), t, client)
			must.Do(t, stream.Send(message))
			must.Do(t, stream.CloseSend())
			_, _ = stream.Recv()
			limittest.Idle(t, lim)
			limittest.Check(t, lim, c.want)
		})
	}
}

// A stream of a client is admitted when it begins, and then holds no slot.
func TestClientStreams(t *testing.T) {
	lim := limittest.Fixed(t, 1, weir.Queue{})
	limits := weirgrpc.LimitClient(weirgrpc.One(lim))
	client := testpb.NewBenchmarkServiceClient(dial(t, start(t, &service{}), limits.Options()...))
	first, second := open(t.Context(), t, client), open(t.Context(), t, client)
	empty := limittest.Fill(t, lim)
	if _, err := client.StreamingCall(t.Context()); !errors.Is(err, weir.ErrLimitReached) || status.Code(err) != codes.ResourceExhausted {
		t.Errorf("of a full limiter: %v", err)
	}
	empty()
	finish(t, first)
	finish(t, second)
	limittest.Check(t, lim, limittest.Taught{Ignored: 3})
}

func TestClientStreamsThatDoNotBegin(t *testing.T) {
	for name, c := range map[string]struct {
		begin func() error
		want  limittest.Taught
	}{
		"refused":    {func() error { return status.Error(codes.Unauthenticated, "no token") }, limittest.Taught{Ignored: 1}},
		"overloaded": {func() error { return says(codes.Unavailable, time.Second) }, limittest.Taught{Overloaded: 1}},
		"panics":     {func() error { panic("broken") }, limittest.Taught{Failed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			lim := limittest.Fixed(t, 1, weir.Queue{})
			limittest.Unwind(func() {
				_, _ = weirgrpc.LimitClient(weirgrpc.One(lim)).Stream(t.Context(), &grpc.StreamDesc{}, nil, pingPong,
					func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
						return nil, c.begin()
					})
			})
			limittest.Check(t, lim, c.want)
		})
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
	}}, lim, weirgrpc.ServerConfig{EachMessage: true})
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

// uncomparable is a context of a type without ==, as another interceptor may put into a stream.
type uncomparable struct {
	context.Context //nolint:containedctx // it is one
	_               func()
}

type foreign struct{ grpc.ServerStream }

func (foreign) Context() context.Context { return uncomparable{Context: context.Background()} }

func TestStreamWithAContextOfAnyType(t *testing.T) {
	server := weirgrpc.LimitServer(weirgrpc.One(limittest.Fixed(t, 1, weir.Queue{})), weirgrpc.ServerConfig{})
	info := &grpc.StreamServerInfo{FullMethod: pingPong}
	must.Do(t, server.Stream(&service{}, foreign{}, info, func(any, grpc.ServerStream) error { return nil }))
}
