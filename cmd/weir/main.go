// Command weir limits the work that reaches a server to its capacity.
//
//	weir proxy --to http://127.0.0.1:9000   a reverse proxy with an adaptive limit
//	weir proxy --config weir.yaml           the same from a file, with routes, several upstreams and TLS
//	weir check weir.yaml                    the errors of such a file
//	weir schema                             its JSON schema, for editors
//	weir demo                               a comparison with and without a limit in half a minute
//	weir demo bulkhead                      the same for a slow route beside a fast one
//	weir work --stream mails -- ./send-mail a command for each job of a stream (needs weir-work)
//	weir record 127.0.0.1:8081 a.jsonl      the readings of a dashboard, in a file
//	weir replay a.jsonl                     that file in a browser
//	weir sim run kata --law band            a control law against a simulated service
//	weir sim trace access.log ... --choose  which law suits the requests of a log
//
//	weir help                               the commands and the other help topics
//
// weir help columns and exit-codes explain its tables and exit codes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
)

type commands struct {
	Proxy   proxyCommand   `cmd:"" help:"Limit what reaches the server behind this reverse proxy."`
	Check   checkCommand   `cmd:"" help:"Say what is wrong with a configuration of the proxy."`
	Schema  schemaCommand  `cmd:"" help:"Print the JSON schema of the proxy's configuration, for editors."`
	Demo    demoCommand    `cmd:"" help:"Show what a limit or a bulkhead is worth."`
	Work    workCommand    `cmd:"" help:"Run a command for each job of a stream, as many at once as fare well."`
	Enqueue enqueueCommand `cmd:"" help:"Add jobs to a stream."`
	Jobs    jobsCommand    `cmd:"" help:"Show the jobs of a stream, and try dead letters again."`
	Record  recordCommand  `cmd:"" help:"Record what a dashboard shows."`
	Replay  replayCommand  `cmd:"" help:"Show a recording in a browser."`
	Sim     simCommand     `cmd:"" help:"Simulate control laws on scenarios, random systems and traces."`
	Help    helpCommand    `cmd:"" help:"Print the help of a command or on a topic."`

	Overview    helpOfGroup      `cmd:"" default:"1" hidden:""`
	VersionFlag kong.VersionFlag `name:"version" help:"Print the version."`
}

const description = `Keeps a server inside its capacity: measures how requests fare, finds how many may ` +
	`run at once, admits that many and refuses or queues the rest.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	os.Exit(exitStatus(err, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	err := runOn(ctx, args, watchedOutput{stdout, end}, stderr)
	return outcome(ctx, err)
}

func runOn(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if i := slices.IndexFunc(args, func(arg string) bool { return !utf8.ValidString(arg) }); i >= 0 { // Kong would change it
		return usageError{fmt.Errorf("argument %d, %q, is no UTF-8: want UTF-8; weir enqueue takes any bytes on the standard input", i+1, args[i])}
	}
	done := false
	parser, err := newParser(stdout, stderr, func(int) { done = true })
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if done { // by a flag that only prints, such as --version
		return nil
	}
	if err != nil {
		return usageError{withHelp(err)}
	}
	command.BindTo(ctx, (*context.Context)(nil))
	err = command.Run(streams{stdout, stderr})
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return interruptedError{err}
	}
	return err
}

func newParser(stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	return kong.New(new(commands), append(mappers(),
		kong.Name("weir"),
		kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(printHelp),
		kong.Vars{"version": version(), "laws": strings.Join(lawNames(), ", "), "panels": strings.Join(simulate.Panels(), ", ")},
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.WithHyphenPrefixedParameters(true), // reports "--min -5" as a bad value
	)...)
}

// withHelp adds the command that lists the allowed words to an error about an unknown or missing
// word.
func withHelp(err error) error {
	parse, ok := errors.AsType[*kong.ParseError](err)
	aboutWord := regexp.MustCompile(`^(unexpected argument|unknown flag|expected) [^,]*$`)
	if !ok || !aboutWord.MatchString(err.Error()) {
		return err
	}
	node := parse.Context.Model.Node
	if selected := parse.Context.Selected(); selected != nil {
		node = selected
		isDefault := node.Parent.DefaultCmd == node
		if isDefault && strings.HasPrefix(err.Error(), "unexpected argument") { // one of its siblings may be meant
			node = node.Parent
		}
	}
	return fmt.Errorf("%w: see %s --help", err, node.FullPath())
}

// streams are the outputs of a command: results and errors.
type streams struct {
	out, err io.Writer
}

// A usageError is an error in the command line, or in a file or an address that it names.
type usageError struct {
	error
}

func (e usageError) Unwrap() error { return e.error }

// An interruptedError reports the work that a signal left undone.
type interruptedError struct {
	error
}

// weir itself ends with these exit codes. It passes on the exit code of a companion.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130 // the convention of shells: 128 + SIGINT
)

// exitStatus reports err in one line, or joined errors in one line each, and returns the exit
// status.
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
	switch {
	case errors.As(err, new(usageError)):
		return statusUsage
	case errors.As(err, new(interruptedError)):
		return statusInterrupted
	}
	return statusFailed
}

// eachOf splits joined errors, including errors that Kong joined.
func eachOf(err error) (each []error) {
	switch err := err.(type) { //nolint:errorlint // errors wrapped in a text of their own stay whole
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
