package capacity

import (
	"cmp"
	"container/list"
	"context"
	"fmt"

	"github.com/weir-go/weir/internal/trusted"
)

// A reservation is a request in the queue: see package trusted.
type reservation struct {
	request *Request
	// The lock of the tree guards the fields below.
	wake    func()          // is called when the reservation is answered
	seats   []*list.Element // the place in the queue of each level, nil without one; taken upwards
	waiting bool
	grant   Grant
	err     error // ErrWaiting while it waits
}

//nolint:gochecknoinits // a seam has to be set before it is used
func init() {
	trusted.Provide(func(c *Capacity, req *Request, wake func()) (trusted.Reservation[*Request, Grant], error) {
		w, err := c.reserve(req, wake)
		if err != nil {
			return nil, err // and not a nil *reservation
		}
		return w, nil
	})
}

// Acquire takes all resources of the request, and waits for its turn if need be. If ctx ends first,
// the error matches context.Cause(ctx); a nil ctx counts as context.Background. A request above a
// limit is refused with a [*ShortageError] that matches [ErrNeverFits], at once or after the limit
// was lowered. Acquire does not allocate unless it has to wait or refuse.
func (c *Capacity) Acquire(ctx context.Context, req *Request) (Grant, error) {
	ctx = cmp.Or(ctx, context.Background())
	if ctx.Err() != nil {
		return Grant{}, cancelled(ctx)
	}
	if g, err := c.TryAcquire(req); err == nil {
		return g, nil
	}
	ready := make(chan struct{})
	w, err := c.reserve(req, func() { close(ready) })
	if err != nil {
		return Grant{}, err
	}
	if g, err := w.Grant(); err == nil { // the resources came free in between
		return g, nil
	}
	select {
	case <-ready:
		return w.Grant()
	case <-ctx.Done():
		w.Cancel()
		return Grant{}, cancelled(ctx)
	}
}

func cancelled(ctx context.Context) error {
	return fmt.Errorf("capacity: cancelled before it was granted: %w", context.Cause(ctx))
}

func (c *Capacity) reserve(req *Request, wake func()) (*reservation, error) {
	if err := c.checked(req); err != nil {
		return nil, err
	}
	w := &reservation{request: req, waiting: true, err: trusted.ErrWaiting, seats: make([]*list.Element, len(c.path))}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refill()
	if a := req.impossible(); a != nil {
		return nil, a.refused(NeverFits)
	}
	c.waiting++
	w.seats[0] = c.queue.PushBack(w)
	if c.first() == w {
		w.advance(nil) // it is alone here, so no other reservation moves
	}
	w.wake = wake
	return w, nil
}

// Grant implements [trusted.Reservation].
func (w *reservation) Grant() (Grant, error) {
	c := w.request.of
	c.mu.Lock()
	defer c.mu.Unlock()
	return w.grant, w.err
}

// Cancel implements [trusted.Reservation].
func (w *reservation) Cancel() {
	c := w.request.of
	c.mu.Lock()
	defer c.mu.Unlock()
	waited, g := w.waiting, w.grant
	w.waiting, w.grant, w.err = false, Grant{}, trusted.ErrCancelled
	switch {
	case waited:
		w.leave(0, nil)
	case g.request != nil && c.ledger.strike(g.page, g.number):
		g.request.giveBack()
	default:
		return
	}
	c.settle()
}

// Backfill implements [trusted.Reservation].
func (w *reservation) Backfill(req *Request) (Grant, error) {
	c := w.request.of
	c.mu.Lock()
	defer c.mu.Unlock()
	g, refused := c.try(req, w)
	if refused != nil {
		return Grant{}, refused
	}
	if w.waiting {
		c.settle() // the reservation may be short at its own level now, and must not block upper levels
	}
	return g, nil
}

// advance is called for the first reservation in the queue of a level. The reservation goes as far
// as it can: through the queues of the levels above, and if it fits everywhere, to its grant.
// advance adds the levels that the reservation leaves to left.
func (w *reservation) advance(left *[]*Capacity) {
	c := w.request.of
	for k, level := range c.path {
		if w.seats[k] == nil {
			w.seats[k] = level.queue.PushBack(w)
		}
		if level.first() != w {
			return
		}
		if a := w.request.short(k); a != nil {
			if a.units > a.limit {
				w.answer(Grant{}, a.refused(NeverFits), left)
				return
			}
			w.leave(k+1, left) // a limit fell behind it
			if level.quota != nil {
				level.arm()
			}
			return
		}
	}
	w.answer(c.take(w.request), nil, left)
}

func (w *reservation) answer(g Grant, err *ShortageError, left *[]*Capacity) {
	w.waiting, w.grant, w.err = false, g, nil
	if err != nil {
		w.err = err
	}
	w.leave(0, left)
	if w.wake != nil {
		w.wake()
	}
}

// leave gives up the places from a level up.
func (w *reservation) leave(from int, left *[]*Capacity) {
	if from == 0 {
		w.request.of.waiting--
	}
	for k, level := range w.request.of.path {
		if k < from || w.seats[k] == nil {
			continue
		}
		level.queue.Remove(w.seats[k])
		w.seats[k] = nil
		if left != nil {
			*left = append(*left, level)
		}
	}
}

// settle serves the waiters in the path of c after something changed there, and the waiters that
// can proceed because of that.
func (c *Capacity) settle() {
	c.refill()
	c.left = append(c.left[:0], c.path...)
	for len(c.left) > 0 {
		level := c.left[len(c.left)-1]
		c.left = c.left[:len(c.left)-1]
		for first := level.first(); first != nil; first = level.first() {
			first.advance(&c.left)
			if level.first() == first {
				break
			}
		}
	}
}
