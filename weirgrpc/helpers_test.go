package weirgrpc_test

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirgrpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	testpb "google.golang.org/grpc/interop/grpc_testing"
)

// The methods that the tests call.
const (
	unaryCall    = testpb.BenchmarkService_UnaryCall_FullMethodName
	pingPong     = testpb.BenchmarkService_StreamingCall_FullMethodName
	serviceName  = "grpc.testing.BenchmarkService"
	limitOfTests = 4
)

// service is a gRPC service made of functions; without one it answers at once.
type service struct {
	testpb.UnimplementedBenchmarkServiceServer
	unary  func(context.Context) error
	stream func(grpc.BidiStreamingServer[testpb.SimpleRequest, testpb.SimpleResponse]) error
}

func (s *service) UnaryCall(ctx context.Context, _ *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	if s.unary != nil {
		if err := s.unary(ctx); err != nil {
			return nil, err
		}
	}
	return &testpb.SimpleResponse{}, nil
}

// StreamingCall echoes.
func (s *service) StreamingCall(stream grpc.BidiStreamingServer[testpb.SimpleRequest, testpb.SimpleResponse]) error {
	if s.stream != nil {
		return s.stream(stream)
	}
	for {
		req, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(&testpb.SimpleResponse{Payload: req.GetPayload()}); err != nil {
			return err
		}
	}
}

// start runs a real server on a real socket and returns its address.
func start(t testing.TB, s *service, opts ...grpc.ServerOption) string {
	t.Helper()
	listener := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
	srv := grpc.NewServer(opts...)
	testpb.RegisterBenchmarkServiceServer(srv, s)
	healthpb.RegisterHealthServer(srv, health.NewServer())
	go func() { _ = srv.Serve(listener) }()
	t.Cleanup(srv.Stop)
	return listener.Addr().String()
}

// dial returns a connection to a server that start runs.
func dial(t testing.TB, addr string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn := must.Have(grpc.NewClient(addr, append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, opts...)...))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// limited returns a client of a server behind the limiter, which has served a call, so that its tap
// knows the method.
func limited(t testing.TB, s *service, lim weir.Admitter, cfg weirgrpc.ServerConfig) testpb.BenchmarkServiceClient {
	t.Helper()
	server := weirgrpc.LimitServer(weirgrpc.One(lim), cfg)
	return testpb.NewBenchmarkServiceClient(dial(t, start(t, s, server.Options()...)))
}
