// Command weir-fleet serves the store of a fleet on its standard input and output. "weir proxy"
// starts it if its configuration has a fleet, and ends it by the end of its input.
//
//	weir-fleet -name shop -store nats://nats:4222
//	weir-fleet -name shop -store postgres://weir@db/weir -credentials /run/secrets/password
//
// It stands apart from weir because the clients of NATS and PostgreSQL are of many modules. Without
// the store it waits, and says in its answers for which error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/weir-go/weir/internal/pipe"
)

func main() {
	// An interrupt from the terminal is for weir, which needs the store until it has left.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "weir-fleet:", err)
	if errors.As(err, new(usageError)) {
		os.Exit(2)
	}
	os.Exit(1)
}

// A usageError is a fault in the command line.
type usageError struct{ error }

// A config says where the entries of a fleet are.
type config struct {
	name, store, credentials            string
	authorities, certificate, key, host string
	replicas                            int
	refresh                             time.Duration
}

func run(args []string, in io.Reader, out, help io.Writer) error {
	var c config
	flags := flag.NewFlagSet("weir-fleet", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its error says it too
	flags.StringVar(&c.name, "name", "", "name of the fleet")
	flags.StringVar(&c.store, "store", "", "URL of NATS, nats://host:4222, or PostgreSQL, postgres://user@host/database")
	flags.StringVar(&c.credentials, "credentials", "", "file with a password, a token, or credentials of NATS")
	flags.StringVar(&c.authorities, "ca", "", "file of authorities to believe, for NATS")
	flags.StringVar(&c.certificate, "certificate", "", "file of a certificate for NATS")
	flags.StringVar(&c.key, "key", "", "file of its key")
	flags.StringVar(&c.host, "server-name", "", "name that the certificate of NATS must have")
	flags.IntVar(&c.replicas, "replicas", 1, "on how many servers of NATS the entries are kept")
	flags.DurationVar(&c.refresh, "refresh", time.Second, "how often a member speaks: rows of PostgreSQL are read four times as often")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(help)
		flags.Usage()
		return err
	case err != nil:
		return usageError{err}
	case flags.NArg() > 0:
		return usageError{fmt.Errorf("unexpected argument %s: want only flags", flags.Arg(0))}
	}
	open, err := c.opener()
	if err != nil {
		return usageError{err}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l := newLink()
	go l.keep(ctx, open)
	return pipe.Serve(l, in, out)
}
