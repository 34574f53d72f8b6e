package pool

import "runtime/debug"

// isolated calls code of a user on a goroutine of its own and waits for it. A panic or the end of that
// goroutine is an error.
func isolated(call func()) error {
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
