package weirconnect_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"connectrpc.com/connect"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirhttp"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The procedures that the tests call.
const (
	unaryCall = "/test.v1.Service/Unary"
	pingPong  = "/test.v1.Service/PingPong"
	upload    = "/test.v1.Service/Upload"
)

type (
	bytes      = wrapperspb.BytesValue
	echoServer = connect.BidiStream[bytes, bytes]
	echoClient = connect.BidiStreamForClient[bytes, bytes]
)

// service is a Connect service made of functions; without one it answers at once.
type service struct {
	unary  func(context.Context) error
	stream func(context.Context, *echoServer) error
}

func (s *service) call(ctx context.Context, _ *connect.Request[bytes]) (*connect.Response[bytes], error) {
	if s.unary != nil {
		if err := s.unary(ctx); err != nil {
			return nil, err
		}
	}
	return connect.NewResponse(&bytes{}), nil
}

func (s *service) echo(ctx context.Context, stream *echoServer) error {
	if s.stream != nil {
		return s.stream(ctx, stream)
	}
	for {
		message, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(message); err != nil {
			return err
		}
	}
}

func (s *service) take(_ context.Context, stream *connect.ClientStream[bytes]) (*connect.Response[bytes], error) {
	for stream.Receive() {
	}
	return connect.NewResponse(&bytes{}), stream.Err()
}

// start runs a real server, by HTTP/2 with TLS, or by HTTP/1.1. Peers of 127.0.0.1 are trusted.
func start(t testing.TB, s *service, version int, opts ...connect.HandlerOption) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(unaryCall, connect.NewUnaryHandler(unaryCall, s.call, opts...))
	mux.Handle(pingPong, connect.NewBidiStreamHandler(pingPong, s.echo, opts...))
	mux.Handle(upload, connect.NewClientStreamHandler(upload, s.take, opts...))
	peers := must.Have(trust.Networks("127.0.0.1"))(t)
	srv := httptest.NewUnstartedServer(weirhttp.Trust(mux, peers.Request))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.EnableHTTP2 = version == 2
	if srv.EnableHTTP2 {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(func() {
		srv.CloseClientConnections() // or Close waits for streams that a test abandoned
		srv.Close()
	})
	return srv
}

// caller makes unary calls, and streamer makes streams.
func caller(srv *httptest.Server, opts ...connect.ClientOption) *connect.Client[bytes, bytes] {
	return connect.NewClient[bytes, bytes](srv.Client(), srv.URL+unaryCall, opts...)
}

func streamer(srv *httptest.Server, opts ...connect.ClientOption) *connect.Client[bytes, bytes] {
	return connect.NewClient[bytes, bytes](srv.Client(), srv.URL+pingPong, opts...)
}

func call(ctx context.Context, client *connect.Client[bytes, bytes]) error {
	_, err := client.CallUnary(ctx, connect.NewRequest(&bytes{}))
	return err
}

// exchange sends a message and waits for the answer.
func exchange(t *testing.T, stream *echoClient) {
	t.Helper()
	must.Do(t, stream.Send(&bytes{}))
	must.Have(stream.Receive())(t)
}

// finish ends a stream as a client that is through.
func finish(t *testing.T, stream *echoClient) {
	t.Helper()
	must.Do(t, stream.CloseRequest())
	if _, err := stream.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("the end: %v, want io.EOF", err)
	}
	_ = stream.CloseResponse()
}
