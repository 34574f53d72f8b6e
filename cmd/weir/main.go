// Command weir limits the work that reaches a server to what it can carry.
//
//	weir proxy --to http://127.0.0.1:9000   a reverse proxy with an adaptive limit
//	weir check weir.yaml                    what is wrong with a configuration of the proxy
//	weir schema                             its JSON schema, for editors
//	weir demo                               half a minute that shows the difference it makes
//	weir demo bulkhead                      the same for a slow route beside a fast one
//	weir demo capacity                      a pool of jobs that sizes itself
//	weir demo database                      the same for a throttle before a database (needs weir-storm)
//	weir sim run kata --law band            a control law against a simulated service
//	weir sim trace access.log ... --choose  which law suits the requests of a log
//
// Every flag can also be set through the environment: --queue-timeout is
// WEIR_QUEUE_TIMEOUT.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

type commands struct {
	Proxy   proxyCommand   `cmd:"" help:"Limit what reaches the server behind this reverse proxy."`
	Check   checkCommand   `cmd:"" help:"Say what is wrong with a configuration of the proxy."`
	Schema  schemaCommand  `cmd:"" help:"Print the JSON schema of the proxy's configuration, for editors."`
	Demo    demoCommand    `cmd:"" help:"Show what a limit, a bulkhead, a pool that sizes itself or a throttle is worth."`
	Sim     simCommand     `cmd:"" help:"Simulate control laws on scenarios, random systems and traces."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

const description = `Keeps a server inside its capacity: measures how requests fare, finds how many may ` +
	`run at once, admits that many and refuses or queues the rest. ` +
	`Every flag can also be set through the environment: --queue-timeout is WEIR_QUEUE_TIMEOUT.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	os.Exit(exitStatus(err, os.Stderr))
}

// run is the program without its process.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	helped := false
	parser, err := newParser(getenv, stdout, stderr, func(int) { helped = true })
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if helped {
		return nil
	}
	if err != nil {
		return usageError{withHelp(err)}
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(streams{stdout, stderr}, getenv)
}

// withHelp says where the allowed words are listed, for an error that names none of them.
func withHelp(err error) error {
	parse, text := new(kong.ParseError), err.Error()
	argument, flag := strings.HasPrefix(text, "unexpected argument "), strings.HasPrefix(text, "unknown flag ")
	if !argument && !flag || strings.Contains(text, "did you mean") || !errors.As(err, &parse) {
		return err
	}
	node := parse.Context.Model.Node
	if selected := parse.Context.Selected(); selected != nil {
		node = selected
		if argument && node == node.Parent.DefaultCmd { // a word in place of the default command
			node = node.Parent
		}
	}
	return fmt.Errorf("%w: see %s --help", err, node.FullPath())
}

func newParser(getenv func(string) string, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	return kong.New(new(commands),
		kong.Name("weir"),
		kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.Resolvers(environment(getenv)),
		kong.WithHyphenPrefixedParameters(true), // so that "--min -5" is refused for what it is
	)
}

// streams is where a command writes: its results, and what went wrong.
type streams struct {
	out, err io.Writer
}

// environment sets a flag that is not given from the variable named after it.
func environment(getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		name := "WEIR_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		if value := getenv(name); value != "" && flag.Name != "help" {
			return value, nil
		}
		return nil, nil
	})
}

// A usageError is a fault in what was asked for, not in what then happened.
type usageError struct {
	error
}

func (e usageError) Unwrap() error { return e.error }

// exitStatus reports err in one line, or one for each of several that were joined, and returns the status to
// exit with: 2 if it was asked wrongly, 1 if it went wrong.
func exitStatus(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	if said := saidError(0); errors.As(err, &said) {
		return int(said)
	}
	for _, err := range eachOf(err) {
		fmt.Fprintf(stderr, "weir: %s\n", strings.ReplaceAll(strings.TrimPrefix(err.Error(), "weir: "), "\n", " "))
	}
	if errors.As(err, new(usageError)) {
		return 2
	}
	return 1
}

// eachOf takes errors that were joined apart, also by Kong, which joins those of its hooks.
func eachOf(err error) (each []error) {
	switch err := err.(type) { //nolint:errorlint // what wraps them with a text of its own stays whole
	case usageError:
		return eachOf(err.error)
	case interface{ Unwrap() []error }:
		for _, err := range err.Unwrap() {
			each = append(each, eachOf(err)...)
		}
		return each
	}
	return []error{err}
}
