package capacity

import (
	"context"
	"errors"
	"fmt"
)

// A Claim is a need that stands in the queue. It is [Capacity.Acquire] for
// those who have more to do than to wait, such as a scheduler.
type Claim struct {
	need    *Need
	wakes   func()
	trusted bool // wakes is ours
	// All below is guarded by the lock of the family.
	seats   []seat // one for each level; taken from the lowest up
	only    [1]seat
	waiting bool
	grant   Grant
	err     error  // ErrWaiting while it waits
	next    *Claim // among those to wake
}

// Acquire takes all that is needed, waiting for its turn if need be. If ctx ends
// first the error matches context.Cause(ctx); a nil ctx counts as
// context.Background. A need above a limit is refused with a [*RefusedError] that
// matches [ErrNeverFits], at once or when a lower limit has made it so. It does
// not allocate unless it has to wait or refuse.
func (c *Capacity) Acquire(ctx context.Context, n *Need) (Grant, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return Grant{}, cancelled(ctx)
	}
	g, err := c.TryAcquire(n)
	if err == nil || !errors.Is(err, ErrRefused) || errors.Is(err, ErrNeverFits) {
		return g, err
	}
	ready := make(chan struct{})
	w, err := c.claim(n, func() { close(ready) }, true)
	if err != nil {
		return Grant{}, err
	}
	if g, err := w.Take(); err == nil { // it came free in between
		return g, nil
	}
	select {
	case <-ready:
		return w.Take()
	case <-ctx.Done():
		w.Cancel()
		return Grant{}, cancelled(ctx)
	}
}

func cancelled(ctx context.Context) error {
	return fmt.Errorf("capacity: cancelled before it was granted: %w", context.Cause(ctx))
}

// Claim joins the queue. If the need fits at once, the claim is answered when Claim
// returns, and wake is never called. Otherwise wake is called once, when the claim
// is answered, on a goroutine of its own and outside of locks. Whoever made the answer
// possible waits for wake, so it must not block. A wake that panics or ends its goroutine
// changes nothing for others: see [Snapshot].WakeErr. An owner that loses interest
// must call Cancel. The errors are those of [Capacity.Acquire], and one that matches
// [ErrConfig] if wake is nil.
func (c *Capacity) Claim(n *Need, wake func()) (*Claim, error) { return c.claim(n, wake, false) }

func (c *Capacity) claim(n *Need, wake func(), trusted bool) (*Claim, error) {
	if err := c.checked(n); err != nil {
		return nil, err
	}
	if wake == nil {
		return nil, fmt.Errorf("%w: wake is nil: want a function, which may do nothing", ErrConfig)
	}
	w := &Claim{need: n, wakes: wake, trusted: trusted, waiting: true, err: ErrWaiting}
	if w.seats = w.only[:]; len(c.path) > 1 {
		w.seats = make([]seat, len(c.path))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed {
		c.refill()
	}
	if k, a := n.impossible(); a != nil {
		return nil, refusal(NeverFits, k, a)
	}
	c.waiting++
	c.queue.push(w, 0)
	if c.queue.first.claim == w {
		w.advance(nil) // alone here: what becomes of it moves no other claim
	}
	return w, nil
}

// Take returns the claim's grant, or [ErrWaiting] if it is not answered yet, or why
// it was refused. It may be called again, and returns the same grant.
func (w *Claim) Take() (Grant, error) {
	c := w.need.of
	c.mu.Lock()
	defer c.mu.Unlock()
	return w.grant, w.err
}

// Cancel leaves the queue, or gives back what the claim was granted.
func (w *Claim) Cancel() {
	c := w.need.of
	c.mu.Lock()
	waited, granted := w.waiting, w.grant
	w.waiting, w.grant, w.err = false, Grant{}, ErrCancelled
	var woken *Claim
	if waited {
		w.leave(0, nil)
		woken = c.settle()
	}
	c.mu.Unlock()
	woken.wake()
	granted.Release() // of nothing if it waited
}

// Pass takes what another need of the claim's owner asks for while the claim itself
// goes on waiting: the only way to overtake, and at the expense of
// the claim only. It is refused as [Capacity.TryAcquire] is, also if others wait in front
// of the claim. Who passes a claim without bound starves it.
func (w *Claim) Pass(n *Need) (Grant, error) {
	c := w.need.of
	if err := c.checked(n); err != nil {
		return Grant{}, err
	}
	c.mu.Lock()
	g, refused := c.try(n, w)
	var woken *Claim
	if refused == nil && w.waiting {
		woken = c.settle() // the claim may be short at its own level now, and must not block those above
	}
	c.mu.Unlock()
	woken.wake()
	if refused != nil {
		return Grant{}, refused
	}
	return g, nil
}

// advance is called for the first in the queue of a level. It goes as far as it can:
// through the queues of the levels above, and if it fits everywhere, to its grant.
// Levels that it leaves are added to left.
func (w *Claim) advance(left *[]*Capacity) {
	c := w.need.of
	for k, level := range c.path {
		if !w.seats[k].taken {
			level.queue.push(w, k)
		}
		if level.queue.first.claim != w {
			return
		}
		if a := w.need.short(k); a != nil {
			if a.units > a.limit {
				w.answer(Grant{}, refusal(NeverFits, k, a), left)
				return
			}
			w.leave(k+1, left) // a limit fell behind it
			if level.quota != nil {
				level.arm()
			}
			return
		}
	}
	w.answer(c.take(w.need), nil, left)
}

func (w *Claim) answer(g Grant, err *RefusedError, left *[]*Capacity) {
	w.waiting, w.grant, w.err = false, g, nil
	if err != nil {
		w.err = err
	}
	w.leave(0, left)
}

// leave gives up the seats from a level up.
func (w *Claim) leave(from int, left *[]*Capacity) {
	if from == 0 {
		w.need.of.waiting--
	}
	for k, level := range w.need.of.path {
		if k < from || !w.seats[k].taken {
			continue
		}
		level.queue.remove(&w.seats[k])
		if left != nil {
			*left = append(*left, level)
		}
	}
}

// settle serves who waits in the path of c, after something changed there, and all who
// can go on because of that. It returns those to wake, chained.
func (c *Capacity) settle() (woken *Claim) {
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
			w := first.claim
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
func (w *Claim) reversed() (chain *Claim) {
	for w != nil {
		w.next, chain, w = chain, w, w.next
	}
	return chain
}
