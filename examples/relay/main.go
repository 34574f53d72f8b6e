// Relay is a Nostr relay on Badger that stays responsive under floods. README.md explains how.
//
//	relay -store DIRECTORY
//
// The exit status is 0, 1 if something went wrong, and 2 if the command was wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	os.Exit(status(err, os.Stderr))
}

// A usageError is a mistake in the command line.
type usageError struct{ error }

// status reports an error and returns the status to exit with.
func status(err error, out io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(out, "relay:", err)
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("relay", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it too
	s := new(serving)
	s.declare(flags)
	if err := settings(flags, args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(out)
		fmt.Fprintln(out, "Relay is a Nostr relay on Badger that stays responsive under floods.")
		flags.PrintDefaults()
		fmt.Fprintln(out, "Each flag is also read from the environment: -store from RELAY_STORE.")
		return err
	} else if err != nil {
		return usageError{fmt.Errorf("%w: see relay -help", err)}
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("unexpected argument %q: want none", flags.Arg(0))}
	}
	s.conf.Logger = slog.New(slog.NewTextHandler(log, nil))
	return s.run(ctx)
}

// settings sets the flags from the environment, -store from RELAY_STORE and
// -message-rate from RELAY_MESSAGE_RATE, and then from the arguments.
func settings(flags *flag.FlagSet, args []string) (err error) {
	flags.VisitAll(func(f *flag.Flag) {
		name := "RELAY_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value, ok := os.LookupEnv(name); ok && err == nil {
			if err = flags.Set(f.Name, value); err != nil {
				err = fmt.Errorf("%s is %q: %w", name, value, err)
			}
		}
	})
	if err != nil {
		return err
	}
	return flags.Parse(args)
}
