package capacity

import (
	"fmt"

	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/trusted"
)

//nolint:gochecknoinits // a seam has to be set before it is used
func init() {
	trusted.Provide(trusted.Reservations[*Capacity, *Request, *Reservation, Grant]{
		Reserve: (*Capacity).reserveTrusted, Cancel: (*Reservation).cancel, Backfill: (*Reservation).backfill,
	})
}

// waker returns the method wake, nil for an empty chain.
func (w *Reservation) waker() func() {
	if w == nil {
		return nil
	}
	return w.wake
}

func call(wake func()) {
	if wake != nil {
		wake()
	}
}

// wake informs the owners of a chain of reservations. It must be called outside of locks.
func (w *Reservation) wake() {
	for w != nil {
		next := w.next
		w.next = nil
		if w.trusted {
			w.wakes()
		} else {
			w.guarded()
		}
		w = next
	}
}

// guarded calls a user's wake on a goroutine of its own: a wake that panics or ends its
// goroutine must not stop the one that released, nor the wakes after it.
func (w *Reservation) guarded() {
	if err := isolate.Call(w.wakes); err != nil {
		c := w.request.of
		c.mu.Lock()
		c.wakeErr = fmt.Errorf("%w: it %w", ErrWake, err)
		c.mu.Unlock()
	}
}
