// Relay is a Nostr relay on Badger that stays responsive under floods, and imports millions of
// events in bounded memory.
// README.md explains how.
//
//	relay serve            answers clients
//	relay import FILE      reads events into the store
//	relay gen N            makes events to try it with
//
// The exit status is 0, 1 if something went wrong, and 2 if the command was wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	os.Exit(status(err, os.Stderr))
}

type streams struct {
	in       io.Reader
	out, err io.Writer
}

// A command declares its flags and returns its action on the arguments.
type command struct {
	name, args, does string
	declare          func(*flag.FlagSet) func(ctx context.Context, args []string, std streams) error
}

var commands = []command{
	{"serve", "", "answer clients", declareServe},
	{"import", "FILE|-", "read events, one as JSON a line", declareImport},
	{"gen", "N", "write N valid, signed events as JSON lines", declareGen},
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

func run(ctx context.Context, args []string, std streams) error {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		usage(std.out)
		return nil
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == args[0] })
	if i < 0 {
		return usageError{fmt.Errorf("unknown command %q: see relay help", args[0])}
	}
	c := commands[i]
	flags := flag.NewFlagSet("relay "+c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it too
	do := c.declare(flags)
	if err := settings(flags, args[1:]); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(std.out)
		fmt.Fprintf(std.out, "relay %s [flags] %s: %s\n", c.name, c.args, c.does)
		flags.PrintDefaults()
		return err
	} else if err != nil {
		return usageError{fmt.Errorf("%s: %w: see relay %s -help", c.name, err, c.name)}
	}
	if c.args == "" && flags.NArg() > 0 {
		return usageError{fmt.Errorf("%s: unexpected argument %q: want none", c.name, flags.Arg(0))}
	}
	return do(ctx, flags.Args(), std)
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

func usage(out io.Writer) {
	fmt.Fprintln(out, "Relay is a Nostr relay on Badger that stays responsive under floods.")
	fmt.Fprintln(out)
	for _, c := range commands {
		fmt.Fprintf(out, "  relay %-15s %s\n", strings.TrimSpace(c.name+" "+c.args), c.does)
	}
	fmt.Fprintln(out, "\nrelay COMMAND -help lists the flags. Each is also read from the environment: -store from RELAY_STORE.")
}
