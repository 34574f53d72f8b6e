// Command weir-storm shows what a throttle is worth to a database: the same crowd of writers
// in a Badger store, first let loose and then paced at what the store digests. The store is
// real, in a temporary folder that is removed.
//
//	weir-storm                  what "weir demo database" starts
//	weir-storm -duration 20s    a shorter one
//
// It stands apart from weir because it needs a database of many modules.
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
)

func main() {
	// Under weir an interrupt comes twice, from the terminal and from weir, so the second is no
	// wish to end at once.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, colors())
	os.Exit(exitStatus(err, os.Stderr))
}

// exitStatus reports err and returns the status to exit with, as weir does: 2 if it was asked
// wrongly, 1 if it went wrong.
func exitStatus(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(stderr, "weir-storm:", err)
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

type usageError struct{ error }

func run(ctx context.Context, args []string, out io.Writer, color bool) error {
	flags := flag.NewFlagSet("weir-storm", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its error says it too
	duration := flags.Duration("duration", 50*time.Second, "how long both storms last together, 2s to 60s")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		flags.Usage()
		return err
	case err != nil:
		return usageError{err}
	case flags.NArg() > 0:
		return usageError{fmt.Errorf("unexpected argument %s: want only -duration TIME", flags.Arg(0))}
	case *duration < shortest || *duration > longest:
		return usageError{fmt.Errorf("--duration: %v: want %.0fs to %.0fs", *duration, shortest.Seconds(), longest.Seconds())}
	}
	return show(ctx, *duration, printer{out, color})
}

// colors reports whether the output is a terminal that may be coloured.
func colors() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}
