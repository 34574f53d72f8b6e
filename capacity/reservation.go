package capacity

import (
	"context"
	"errors"
	"fmt"

	"github.com/weir-go/weir/internal/reply"
)

// A Reservation is a request in the queue. It is [Capacity.Acquire] for callers that cannot block,
// such as a scheduler.
type Reservation struct {
	request *Request
	wakes   func()
	trusted bool // wakes is ours
	// All below is guarded by the lock of the tree.
	seats   []seat // one for each level; taken from the lowest up
	only    [1]seat
	waiting bool
	grant   Grant
	err     error        // ErrWaiting while it waits
	next    *Reservation // among those to wake
}

// Acquire takes all that is needed, waiting for its turn if need be. If ctx ends
// first the error matches context.Cause(ctx); a nil ctx counts as
// context.Background. A request above a limit is refused with a [*ShortageError] that
// matches [ErrNeverFits], at once or when a lower limit has made it so. It does
// not allocate unless it has to wait or refuse.
func (c *Capacity) Acquire(ctx context.Context, req *Request) (Grant, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return Grant{}, cancelled(ctx)
	}
	g, err := c.TryAcquire(req)
	if err == nil || !errors.Is(err, reply.ErrRefused) || errors.Is(err, ErrNeverFits) {
		return g, err
	}
	ready := make(chan struct{})
	w, err := c.reserveTrusted(req, func() { close(ready) })
	if err != nil {
		return Grant{}, err
	}
	if g, err := w.Grant(); err == nil { // it came free in between
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

// Reserve joins the queue. If the request fits at once, the reservation is answered when Reserve
// returns, and wake is never called. Otherwise wake is called once, when the reservation
// is answered, on a goroutine of its own and outside of locks. Whoever made the answer
// possible waits for wake, so it must not block. A wake that panics or ends its goroutine
// changes nothing for others: see [Snapshot].WakeErr. An owner that loses interest
// must call Cancel. The errors are those of [Capacity.Acquire], and one that matches
// [ErrConfig] if wake is nil.
func (c *Capacity) Reserve(req *Request, wake func()) (*Reservation, error) {
	return c.reserve(req, wake, false)
}

// reserveTrusted is Reserve with a wake that neither blocks nor panics nor ends its goroutine.
func (c *Capacity) reserveTrusted(req *Request, wake func()) (*Reservation, error) {
	return c.reserve(req, wake, true)
}

func (c *Capacity) reserve(req *Request, wake func(), trusted bool) (*Reservation, error) {
	if err := c.checked(req); err != nil {
		return nil, err
	}
	if wake == nil {
		return nil, fmt.Errorf("%w: wake is nil: want a function, which may do nothing", ErrConfig)
	}
	w := &Reservation{request: req, wakes: wake, trusted: trusted, waiting: true, err: ErrWaiting}
	if w.seats = w.only[:]; len(c.path) > 1 {
		w.seats = make([]seat, len(c.path))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed {
		c.refill()
	}
	if a := req.impossible(); a != nil {
		return nil, a.refused(NeverFits)
	}
	c.waiting++
	c.queue.push(w, 0)
	if c.queue.first.reservation == w {
		w.advance(nil) // alone here: its fate moves no other reservation
	}
	return w, nil
}

// Grant returns the reservation's grant, or [ErrWaiting] if it is not answered yet, or why
// it was refused. It may be called again, and returns the same grant.
func (w *Reservation) Grant() (Grant, error) {
	c := w.request.of
	c.mu.Lock()
	defer c.mu.Unlock()
	return w.grant, w.err
}

// Cancel leaves the queue, or gives the reservation's grant back.
func (w *Reservation) Cancel() { call(w.cancel()) }

// cancel is Cancel without the wakes of other owners, which it returns.
func (w *Reservation) cancel() (wake func()) {
	c := w.request.of
	c.mu.Lock()
	defer c.mu.Unlock()
	waited, g := w.waiting, w.grant
	w.waiting, w.grant, w.err = false, Grant{}, ErrCancelled
	switch {
	case waited:
		w.leave(0, nil)
	case g.request != nil && c.ledger.strike(g.page, g.number):
		g.request.giveBack()
	default:
		return nil
	}
	return c.settle().waker()
}

// Backfill takes the resources of another request of the reservation's owner while the reservation
// itself goes on waiting: the only way to overtake, and at the expense of the reservation only. It
// is refused as [Capacity.TryAcquire] is, also if others wait in front of the reservation. An owner
// that backfills without bound starves its reservation.
func (w *Reservation) Backfill(req *Request) (Grant, error) {
	g, wake, err := w.backfill(req)
	call(wake)
	return g, err
}

// backfill is Backfill without the wakes of other owners, which it returns.
func (w *Reservation) backfill(req *Request) (g Grant, wake func(), err error) {
	c := w.request.of
	if err := c.checked(req); err != nil {
		return Grant{}, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	g, refused := c.try(req, w)
	if refused != nil {
		return Grant{}, nil, refused
	}
	if w.waiting {
		wake = c.settle().waker() // the reservation may be short at its own level now, and must not block those above
	}
	return g, wake, nil
}

// advance is called for the first in the queue of a level. It goes as far as it can:
// through the queues of the levels above, and if it fits everywhere, to its grant.
// Levels that it leaves are added to left.
func (w *Reservation) advance(left *[]*Capacity) {
	c := w.request.of
	for k, level := range c.path {
		if !w.seats[k].taken {
			level.queue.push(w, k)
		}
		if level.queue.first.reservation != w {
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

func (w *Reservation) answer(g Grant, err *ShortageError, left *[]*Capacity) {
	w.waiting, w.grant, w.err = false, g, nil
	if err != nil {
		w.err = err
	}
	w.leave(0, left)
}

// leave gives up the seats from a level up.
func (w *Reservation) leave(from int, left *[]*Capacity) {
	if from == 0 {
		w.request.of.waiting--
	}
	for k, level := range w.request.of.path {
		if k < from || !w.seats[k].taken {
			continue
		}
		level.queue.remove(&w.seats[k])
		if left != nil {
			*left = append(*left, level)
		}
	}
}

// settle serves the waiters in the path of c after something changed there, and the waiters that
// can proceed because of that. It returns the reservations to wake, chained.
func (c *Capacity) settle() (woken *Reservation) {
	if c.timed {
		c.refill()
	}
	c.left = append(c.left[:0], c.path...)
	for len(c.left) > 0 {
		level := c.left[len(c.left)-1]
		c.left = c.left[:len(c.left)-1]
		for {
			first := level.queue.first
			if first == nil {
				break
			}
			w := first.reservation
			w.advance(&c.left)
			if !w.waiting {
				w.next, woken = woken, w
			}
			if level.queue.first == first {
				break
			}
		}
	}
	return woken.reversed()
}

// reversed puts the first to be served first.
func (w *Reservation) reversed() (chain *Reservation) {
	for w != nil {
		w.next, chain, w = chain, w, w.next
	}
	return chain
}
