package pool

import (
	"errors"
	"fmt"

	"github.com/weir-go/weir/internal/settings"
)

// A pool returns these errors. [Pool.Run] yields errors that end the run; the other errors are in
// the Err of an [Event], or come from a [Lease].
var (
	// ErrConfig matches every error about a setting or a task that makes no sense.
	ErrConfig = settings.ErrConfigOf("pool")
	// ErrUsed: the pool has run already; a pool runs once.
	ErrUsed = errors.New("pool: Run was called before")
	// ErrSource: the source returned an error, panicked or ended its goroutine.
	ErrSource = errors.New("pool: the source failed")
	// ErrScaler: a scaler or its law failed, and the size was held.
	ErrScaler = errors.New("pool: the scaler failed")
	// ErrStopped: a task failed for good, and [Config].StopOnError is set.
	ErrStopped = errors.New("pool: stopped on the first error")
	// ErrAbandoned: a task or the source ignored the end of its context for longer than
	// [Config].Grace.
	ErrAbandoned = errors.New("pool: left behind what did not end in time")
	// ErrDrained: [Pool.Drain] was called before the task started.
	ErrDrained = errors.New("pool: drained before it started")
	// ErrAttempts: the source has delivered the task more often than [Config].MaxAttempts.
	ErrAttempts = errors.New("pool: delivered too often")
	// ErrDependency: a task in [Task].After failed or never came, or waits for this task.
	ErrDependency = errors.New("pool: dependency")
	// ErrDuplicate: another task of the same key is not finished yet.
	ErrDuplicate = errors.New("pool: duplicate key")
	// ErrLeaseLost: the source no longer reserves the task for this run. A [Lease] returns this
	// error.
	ErrLeaseLost = errors.New("pool: lease lost")
	// ErrExited: code of the user ended its goroutine with runtime.Goexit.
	ErrExited = errors.New("pool: ended its goroutine")

	errBroken = errors.New("pool: the events have no reader any more")
)

// A PanicError is the error of code that panicked: of a task, a source, a lease or a scaler.
type PanicError struct {
	Value any    // the value of the panic
	Stack []byte // the stack at the panic, from runtime/debug.Stack
}

// Error returns the value of the panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("pool: panicked: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Permanent marks an error that another attempt cannot mend: the lease of the task is rejected
// instead of given back, or acknowledged if the lease is no [Rejecter]. Permanent returns nil for
// nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

func isPermanent(err error) bool { return errors.As(err, new(*permanentError)) }

// A causedError asks its cause for a text only in its Error method: the cause is code of the user,
// which must not run under a lock.
type causedError struct {
	kind  error
	what  string
	cause error
}

func (e *causedError) Error() string {
	if e.what == "" {
		return fmt.Sprintf("%v: %v", e.kind, e.cause)
	}
	return fmt.Sprintf("%v: %s: %v", e.kind, e.what, e.cause)
}

func (e *causedError) Unwrap() []error { return []error{e.kind, e.cause} }
