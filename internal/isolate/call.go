package isolate

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrExited is the end of a call by runtime.Goexit.
var ErrExited = errors.New("ended its goroutine")

// A PanicError is the end of a call by a panic.
type PanicError struct {
	Value any
	Stack []byte // as of runtime/debug.Stack
}

// Error returns what the call panicked with, without the stack.
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
