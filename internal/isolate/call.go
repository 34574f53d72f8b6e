package isolate

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// ErrExited is the end of a call by runtime.Goexit.
var ErrExited = errors.New("ended its goroutine")

// A PanicError is the end of a call by a panic.
type PanicError struct {
	Value any
	Stack []byte // as of runtime/debug.Stack
}

// Error returns the value of the panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panicked: %v", e.Value) }

// Call runs a function on a goroutine of its own and waits for it. It returns nil if the function
// returned, and otherwise ErrExited or a *PanicError. It must be called outside of locks that the
// function may take.
func Call(call func()) error {
	done := make(chan error)
	go func() {
		err := ErrExited
		defer func() {
			if p := recover(); p != nil {
				err = &PanicError{p, debug.Stack()}
			}
			done <- err
		}()
		call()
		err = nil
	}()
	return <-done
}

// A Hook calls a function of the user for each event. It keeps the error of the last call that
// panicked or ended its goroutine. Its methods are safe for concurrent use.
type Hook[E any] struct {
	Name string  // of the function, in errors
	Call func(E) // nil drops the events

	failed atomic.Pointer[error]
}

// Tell calls the function and waits for it.
func (h *Hook[E]) Tell(event E) {
	if h.Call == nil {
		return
	}
	if err := Call(func() { h.Call(event) }); err != nil {
		err = fmt.Errorf("%s %w", h.Name, err)
		h.failed.Store(&err)
	}
}

// Failure returns the error that the hook keeps, nil if there is none, and forgets it.
func (h *Hook[E]) Failure() error {
	if err := h.failed.Swap(nil); err != nil {
		return *err
	}
	return nil
}
