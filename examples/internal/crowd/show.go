package crowd

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A Show holds the settings of an example run.
type Show struct {
	Out  io.Writer
	Each time.Duration // duration of each part, in whole seconds
	// Listen opens a listener for the server, and returns the dialer of its clients.
	Listen func() (net.Listener, Dial, error)
}

// Dial connects to a server and ignores the address.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Usual is the Each of a program: a limit takes a few seconds to converge.
const Usual = 10 * time.Second

// Main runs an example as a program.
func Main(run func(context.Context, Show) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, Show{Out: os.Stdout, Each: Usual, Listen: loopback})
	if err != nil && ctx.Err() == nil { // a signal is not a failure
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func loopback() (net.Listener, Dial, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	return listener, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	}, nil
}
