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
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/internal/settings"
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
	flags.SetOutput(io.Discard) // the error has the same text
	s := new(serving)
	s.declare(flags)
	if err := parse(flags, args, os.Environ()); errors.Is(err, flag.ErrHelp) {
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

// parse sets the flags from the arguments, and the flags that are not given from the environment:
// -message-rate from RELAY_MESSAGE_RATE.
func parse(flags *flag.FlagSet, args, environ []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	variables := map[string]string{} // with their flags
	flags.VisitAll(func(f *flag.Flag) {
		variables[prefix+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))] = f.Name
	})
	for _, pair := range environ {
		variable, value, _ := strings.Cut(pair, "=")
		own, ours := strings.CutPrefix(variable, prefix)
		name, known := variables[variable]
		switch {
		case !ours || given[name] || !known && settings.AnnouncesService(own):
			continue
		case !known:
			return fmt.Errorf("%s is not a setting: %s", variable, nearest.Advice(variable, slices.Sorted(maps.Keys(variables))))
		}
		if err := flags.Set(name, value); err != nil {
			return fmt.Errorf("%s is %q: %w", variable, value, err)
		}
	}
	return nil
}

const prefix = "RELAY_"
