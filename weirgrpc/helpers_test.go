package weirgrpc_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/weir-go/weir"
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

// StreamingFromClient answers when the client has sent all.
func (s *service) StreamingFromClient(stream grpc.ClientStreamingServer[testpb.SimpleRequest, testpb.SimpleResponse]) error {
	for {
		_, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&testpb.SimpleResponse{})
		}
		if err != nil {
			return err
		}
	}
}

// start runs a real server on a real socket and returns its address.
func start(t testing.TB, s *service, opts ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	conn, err := grpc.NewClient(addr, append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// limited returns a client of a server behind the limiter, which has served a call, so that its tap knows the method.
func limited(t testing.TB, s *service, lim weir.Admitter, cfg weirgrpc.ServerConfig) testpb.BenchmarkServiceClient {
	t.Helper()
	server := weirgrpc.LimitServer(weirgrpc.One(lim), cfg)
	return testpb.NewBenchmarkServiceClient(dial(t, start(t, s, server.Options()...)))
}

// fixed returns a limiter whose limit stays where it is.
func fixed(t testing.TB, limit int, queue weir.Queue) *weir.Limiter {
	t.Helper()
	lim, err := weir.New(weir.Config{Name: "secret", Min: limit, Max: limit, Queue: queue})
	if err != nil {
		t.Fatal(err)
	}
	return lim
}

// fill takes all slots of the limiter and returns what gives them back.
func fill(t testing.TB, lim *weir.Limiter) (empty func()) {
	t.Helper()
	var permits []weir.Permit
	for range lim.Snapshot().Limit {
		permit, err := lim.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		permits = append(permits, permit)
	}
	return func() {
		for _, permit := range permits {
			permit.Release()
		}
	}
}

// taught is what a limiter was told of the work that ended.
type taught struct{ succeeded, failed, timedOut, ignored uint64 }

func checkTaught(t testing.TB, lim *weir.Limiter, want taught) {
	t.Helper()
	s := lim.Snapshot()
	got := taught{s.Succeeded, s.Failed, s.TimedOut, s.Ignored}
	if got != want {
		t.Errorf("taught %+v, want %+v", got, want)
	}
	if s.InFlight != 0 {
		t.Errorf("in flight %d, want 0", s.InFlight)
	}
}

// idle waits until nothing is in flight: a server goes on with a call after its client has left.
func idle(t testing.TB, lim *weir.Limiter) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := lim.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}
