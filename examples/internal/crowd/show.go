package crowd

import (
	"context"
	"errors"
	"flag"
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

// Bounds of Show.Each: a limit takes a few seconds to converge.
const (
	shortest = 2 * time.Second
	usual    = 10 * time.Second
	longest  = time.Minute
)

// Main runs an example as a program.
func Main(run func(context.Context, Show) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	show, err := Parse(os.Args[1:], os.Stdout)
	if err == nil {
		err = run(ctx, show)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, flag.ErrHelp) { // a signal is not a failure
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Parse reads the arguments common to all examples.
func Parse(args []string, out io.Writer) (Show, error) {
	flags := flag.NewFlagSet("example", flag.ContinueOnError)
	flags.SetOutput(out)
	each := flags.Duration("each", usual, "how long each part lasts, 2s to 1m")
	if err := flags.Parse(args); err != nil {
		return Show{}, err
	}
	if flags.NArg() > 0 {
		return Show{}, fmt.Errorf("unexpected argument %q: want none, or -each TIME", flags.Arg(0))
	}
	if *each < shortest || *each > longest {
		return Show{}, fmt.Errorf("-each is %v: want 2s to 1m", *each)
	}
	return Show{Out: out, Each: each.Truncate(time.Second), Listen: loopback}, nil
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
