// Command weir-work is the part of weir that needs a server of NATS: its commands about jobs. Users
// do not start it themselves.
//
//	weir work --stream mails -- ./send-mail      becomes weir-work, and runs a command for each job
//	weir enqueue --stream mails ann@example.com  becomes weir-work, and adds a job
//	weir jobs --stream mails                     becomes weir-work, and lists jobs
//
// weir reads the command line, and hands it over in the environment. weir-work is a program of its
// own because it contains the server, whose modules most users of weir do not need.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/weir-go/weir/cmd/weir-work/internal/command"
	"github.com/weir-go/weir/internal/handover"
)

// asGuard is the argument that makes this program the guard of the commands of another process.
const asGuard = "guard"

func main() {
	if len(os.Args) == 2 && os.Args[1] == asGuard {
		command.Watch(os.Stdin)
		return
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	s := streams{os.Stdin, os.Stdout, os.Stderr}
	os.Exit(exitStatus(run(signals, os.Getenv(handover.Variable), s), os.Stderr))
}

// streams are the input and the outputs of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

type usageError struct{ error }

// exitStatus reports err and returns the status to exit with, as weir does: 2 for a wrong request,
// 130 for an interrupt, and 1 for any other error.
func exitStatus(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "weir-work:", err)
	switch {
	case errors.As(err, new(usageError)):
		return 2
	case errors.Is(err, errInterrupted):
		return 130
	}
	return 1
}

// errStopped is the cause that cuts jobs short. errInterrupted is the cause that ends the other
// commands.
var (
	errStopped     = errors.New("stopped before all jobs had ended: they come back")
	errInterrupted = errors.New("interrupted")
)

// run runs the requested command. At the first signal, a worker stops taking jobs and the other
// commands end. The second signal ends a worker's running jobs.
func run(signals <-chan os.Signal, asked string, s streams) error {
	request, err := handover.Decode(asked)
	if err != nil {
		return usageError{fmt.Errorf("%w: weir starts this program: see weir help work, enqueue and jobs", err)}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := make(chan struct{})
	go func() {
		<-signals
		if request.Work == nil {
			cancel(errInterrupted)
			return
		}
		close(stop)
		<-signals
		cancel(errStopped)
	}()
	err = do(ctx, stop, request, s)
	if errors.Is(err, context.Canceled) { // a client of NATS does not return the cause
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

func do(ctx context.Context, stop <-chan struct{}, request handover.Request, s streams) (err error) {
	if request.Work != nil {
		return work(ctx, stop, *request.Work, s)
	}
	out := bufio.NewWriter(s.out)
	s.out = out
	switch {
	case request.Enqueue != nil:
		err = enqueue(ctx, *request.Enqueue, s)
	case request.Requeue != nil:
		err = requeue(ctx, *request.Requeue, s)
	case request.Jobs != nil:
		err = list(ctx, *request.Jobs, s)
	default:
		err = usageError{errors.New("nothing was asked: weir and weir-work must be of one version")}
	}
	flushed := out.Flush()
	if err == nil && flushed != nil {
		return fmt.Errorf("the output is not complete: %w", flushed)
	}
	return err
}
