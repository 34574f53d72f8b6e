package isolate

import (
	"fmt"
	"sync/atomic"
)

// A Hook calls a function of the user for each event. It keeps how the last call failed that
// panicked or ended its goroutine. Its methods are safe for concurrent use.
type Hook[E any] struct {
	Name string  // of the function, in errors
	Call func(E) // nil: events go nowhere

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

// Failure returns how the function failed since the last call, nil if it did not.
func (h *Hook[E]) Failure() error {
	if err := h.failed.Swap(nil); err != nil {
		return *err
	}
	return nil
}
