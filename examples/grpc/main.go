// Grpc is a gRPC service whose database runs 4 queries at once, of 40 ms each: 100 calls a
// second. Clients make 150 a second, with a deadline of half a second.
//
//	scripts/all go run ./examples/grpc
//
// Without a limit the service answers 100 in the first second, some in the second, and then
// none in time: calls wait for the database until their deadline has passed, and the
// database works for clients that have left. With a limit it refuses the excess calls at
// once, before it decodes the message, and answers 95 to 100 a second in time, in one second
// of ten 70. The limiter has no setting for the capacity of the database.
package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing" // in place of the code that protoc made of your service
	"google.golang.org/grpc/status"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/internal/crowd"
	"github.com/weir-go/weir/weirgrpc"
)

func main() { crowd.Main(run) }

// A service answers each call after a query.
type service struct {
	pb.UnimplementedTestServiceServer
	connections chan struct{}
}

func (s *service) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) {
	s.connections <- struct{}{} // ignores the deadline, as many drivers do
	defer func() { <-s.connections }()
	time.Sleep(40 * time.Millisecond)
	return &pb.Empty{}, nil
}

func run(ctx context.Context, show crowd.Show) error {
	fmt.Fprintln(show.Out, "The database of this service can do 100 calls a second. Clients make 150, with a deadline of half a second.")

	fmt.Fprintln(show.Out, "\nWithout a limit, calls wait for the database until their deadline has passed:")
	without, err := serve(ctx, show, grpc.NewServer(), nil)
	if err != nil {
		return err
	}

	lim, err := weir.New(weir.Config{Name: "orders"})
	if err != nil {
		return err
	}
	limits := weirgrpc.LimitServer(weirgrpc.One(lim), weirgrpc.ServerConfig{})
	fmt.Fprintln(show.Out, "\nWith weirgrpc.LimitServer, which finds how many calls may run at once and refuses the others:")
	with, err := serve(ctx, show, grpc.NewServer(limits.Options()...), lim)
	if err != nil {
		return err
	}
	fmt.Fprintf(show.Out, "\nIn the second half, %d of %d calls were answered in time without a limit, and %d of %d with it.\n",
		without.InTime, without.Asked, with.InTime, with.Asked)
	return nil
}

func serve(ctx context.Context, show crowd.Show, srv *grpc.Server, lim *weir.Limiter) (crowd.Tally, error) {
	listener, dial, err := show.Listen()
	if err != nil {
		return crowd.Tally{}, err
	}
	pb.RegisterTestServiceServer(srv, &service{connections: make(chan struct{}, 4)})
	defer srv.Stop()
	go func() { _ = srv.Serve(listener) }() // until it is stopped

	conn, err := grpc.NewClient("passthrough:orders", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx, "", "") }))
	if err != nil {
		return crowd.Tally{}, err
	}
	defer conn.Close()
	client := pb.NewTestServiceClient(conn)
	return crowd.Crowd{Rate: 150, Patience: 500 * time.Millisecond, Limiter: lim, Call: func(ctx context.Context) error {
		_, err := client.EmptyCall(ctx, &pb.Empty{})
		switch status.Code(err) {
		case codes.ResourceExhausted:
			return weir.ErrRefused
		case codes.DeadlineExceeded:
			return context.DeadlineExceeded
		}
		return err
	}}.Run(ctx, show.Out, show.Each)
}
