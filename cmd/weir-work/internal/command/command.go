package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/pool"
)

// ErrStart matches the error of a command that could not be started, which is not the fault of the
// job.
var ErrStart = errors.New("the command cannot be started")

// rejected is the status that rejects a job: EX_DATAERR of sysexits.h.
const rejected = 65

// longestID bounds the identifier of a job, in bytes: every system has room for that in a variable.
// The sender of a job chooses the identifier, and a longer identifier must not stop the worker.
const longestID = 16 << 10

// A Job is the input of a command.
type Job struct {
	ID      string
	Attempt int // from 1
	Payload []byte
}

// A Command describes the command that runs for each job. Run is safe for concurrent use.
type Command struct {
	Args    []string      // the program and its arguments
	Timeout time.Duration // how long an attempt may take; 0 is without end
	Grace   time.Duration // the time from SIGTERM to SIGKILL
	Guard   *Guard        // nil for no guard
}

// Run runs the command for a job. The error of a status, a signal or the time limit has the last
// lines of the output.
func (c *Command) Run(ctx context.Context, job Job) error {
	if n := len(job.ID); n > longestID {
		return pool.Permanent(fmt.Errorf("the identifier of the job has %d bytes: want at most %d", n, longestID))
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, timeoutError(c.Timeout))
		defer cancel()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p, err := c.start(job)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	ended, cut := make(chan struct{}), false
	go func() { err = p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		cut = true
	}
	end(p.cmd.Process, c.Grace)
	<-ended
	if cut {
		err = context.Cause(ctx)
	}
	c.Guard.forget(p.cmd.Process.Pid)
	p.payload.Close()
	return outcome(err, p.output.end())
}

type process struct {
	cmd     *exec.Cmd
	payload *os.File
	output  *output
}

// start starts the command. Its input and output are files, because package exec waits for every
// process that holds the end of one of its own pipes.
func (c *Command) start(job Job) (p process, err error) {
	p.cmd = exec.Command(c.Args[0], c.Args[1:]...) //nolint:gosec // the user names it
	p.cmd.Env = environment(os.Environ(), job)
	own(p.cmd)
	input, payload, err := os.Pipe()
	if err != nil {
		return p, err
	}
	defer input.Close()
	read, written, err := os.Pipe()
	if err != nil {
		return p, errors.Join(err, payload.Close())
	}
	defer written.Close()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = input, written, written
	if err := p.cmd.Start(); err != nil {
		return p, errors.Join(err, payload.Close(), read.Close())
	}
	p.payload, p.output = payload, keep(read)
	if err := c.Guard.watch(p.cmd.Process.Pid); err != nil {
		kill(p.cmd.Process.Pid)
		_ = p.cmd.Wait()
		return p, errors.Join(err, payload.Close(), read.Close())
	}
	go func() {
		_, _ = payload.Write(job.Payload) // a command need not read the whole payload
		payload.Close()
	}()
	return p, nil
}

// prefix begins the variables that commands do not inherit: the queue's credentials are no
// business of a job, and a job that runs weir has an identifier of its own.
const prefix = "WEIR_"

func environment(inherited []string, job Job) []string {
	env := make([]string, 0, len(inherited)+2)
	for _, variable := range inherited {
		if !strings.HasPrefix(variable, prefix) {
			env = append(env, variable)
		}
	}
	id := strings.ReplaceAll(job.ID, "\x00", "") // no variable can hold a 0 byte
	return append(env, prefix+"JOB_ID="+id, prefix+"JOB_ATTEMPT="+strconv.Itoa(job.Attempt))
}

// outcome adds the last lines of the output to the error, and marks an error that no other attempt
// can mend.
func outcome(err error, last string) error {
	if err == nil {
		return nil
	}
	if last != "" {
		err = fmt.Errorf("%w: %s", err, last)
	}
	if ended := new(exec.ExitError); errors.As(err, &ended) && ended.ExitCode() == rejected {
		return pool.Permanent(err)
	}
	return err
}

// A timeoutError has the time limit that an attempt has reached. A law counts it as a timeout.
type timeoutError time.Duration

func (e timeoutError) Error() string {
	return fmt.Sprintf("not done after %v, the time limit", time.Duration(e))
}
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
