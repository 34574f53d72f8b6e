// Command weir-fleet serves the store of a fleet on its standard input and output. "weir proxy"
// starts it if its configuration has a fleet, and ends it by the end of its input. Users do not
// start it: weir names the store in its environment.
//
// It is a command of its own because the clients of NATS and PostgreSQL need many modules. Without
// the store it tries again, and its answers have the error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/pipe"
)

func main() {
	// An interrupt from the terminal is for weir, which needs the store until it has left.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	if err := run(os.Getenv(handover.Variable), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "weir-fleet:", err)
		os.Exit(1)
	}
}

func run(asked string, in io.Reader, out io.Writer) error {
	request, err := handover.Decode(asked)
	if err == nil && request.Fleet == nil {
		err = errors.New("no fleet was asked for")
	}
	if err != nil {
		return fmt.Errorf("%w: weir proxy starts this program, and both must be of one version", err)
	}
	open, err := config(*request.Fleet).opener()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l := newLink()
	go l.keep(ctx, open)
	return pipe.Serve(l, in, out)
}
