package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/weir-go/weir/internal/settings"
)

// Acquire waits until the bytes fit into the budget, and takes them. Call it before the memory is
// used, and [Hold.Release] after. A request larger than the budget is admitted alone, when no other
// bytes are in flight. Waiters are admitted in the order of their calls.
//
// If ctx ends first, the error matches context.Cause(ctx); after Close it is [ErrClosed].
// Negative bytes are an error that matches [ErrConfig]. A nil ctx counts as
// context.Background. Acquire does not allocate unless it has to wait.
func (g *Governor) Acquire(ctx context.Context, bytes int) (Hold, error) {
	ctx = cmp.Or(ctx, context.Background())
	if bytes < 0 {
		return Hold{}, settings.Invalid(ErrConfig, "bytes", bytes, "0 or more")
	}
	if ctx.Err() != nil {
		return Hold{}, context.Cause(ctx)
	}
	if g.isClosed() {
		return Hold{}, ErrClosed
	}
	hold, w := g.budget.acquire(int64(bytes))
	if w == nil {
		return hold, nil
	}
	return g.wait(ctx, w)
}

func (g *Governor) wait(ctx context.Context, w *waiter) (hold Hold, err error) {
	g.waited.Start()
	defer g.waited.Stop()
	select {
	case <-w.admitted:
		return w.hold, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-g.closed:
		err = ErrClosed
	}
	g.budget.leave(w)
	return Hold{}, err
}

// TryAcquireKept takes bytes for as long as a client stays, such as the bytes of a session, a
// subscription or a queue of answers. It does not wait. The error is [ErrFull] if more than an
// eighth of the target would be kept, or if the target leaves no room for work (a [Snapshot.Load]
// of 1). After Close it is [ErrClosed]. For negative bytes it matches [ErrConfig]. TryAcquireKept
// does not allocate.
//
// Kept bytes are not in flight: otherwise a client that stays would stop the import. A collection
// leaves them in memory, so they make the budget of Acquire smaller.
func (g *Governor) TryAcquireKept(bytes int) (Hold, error) {
	switch {
	case bytes < 0:
		return Hold{}, settings.Invalid(ErrConfig, "bytes", bytes, "0 or more")
	case g.isClosed():
		return Hold{}, ErrClosed
	}
	hold, fits := g.kept.tryAcquire(int64(bytes))
	if !fits {
		return Hold{}, ErrFull
	}
	return hold, nil
}

// A Hold is a number of bytes, in flight or kept. Copies are for the same bytes. The zero Hold has
// no bytes.
type Hold struct {
	record     *record
	generation uint64
}

// Release gives the bytes back. Another Release, of a copy too, does nothing. It may be called from
// any goroutine.
func (h Hold) Release() {
	if h.record != nil {
		h.record.budget.release(h)
	}
}

// A record has the bytes of a hold. Once they are back, another hold uses the record.
type record struct {
	budget     *budget
	generation uint64 // how often it was given back
	bytes      int64
	next       *record // in the free list
}

// budget is a first-in-first-out queue for bytes. weir.Limiter and capacity.Capacity do not admit
// a request larger than the limit, which may also have become so while the request waited.
type budget struct {
	mu       sync.Mutex
	size     int64
	inFlight int64
	waiters  []*waiter
	free     *record // the first record of the free list
}

type waiter struct {
	bytes    int64
	admitted chan struct{} // closed once the waiter is admitted
	hold     Hold          // set before admitted is closed
}

// fits reports whether bytes fit, or would be alone. It subtracts, because a sum with the largest
// number would be negative, and fit.
func (b *budget) fits(bytes int64) bool { return b.inFlight == 0 || bytes <= b.size-b.inFlight }

// tryAcquire takes bytes if they fit. It does not admit more bytes than the size, even alone.
func (b *budget) tryAcquire(bytes int64) (_ Hold, fits bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.size-b.inFlight {
		return Hold{}, false
	}
	return b.take(bytes), true
}

// acquire takes bytes, or returns a waiter in the queue.
func (b *budget) acquire(bytes int64) (Hold, *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 && b.fits(bytes) {
		return b.take(bytes), nil
	}
	w := &waiter{bytes: bytes, admitted: make(chan struct{})}
	b.waiters = append(b.waiters, w)
	return Hold{}, w
}

func (b *budget) take(bytes int64) Hold {
	b.inFlight += bytes
	r := b.free
	if r == nil {
		r = &record{budget: b}
	}
	b.free = r.next
	r.bytes = bytes
	return Hold{r, r.generation}
}

// leave removes a waiter from the queue, or gives back its bytes if it was admitted meanwhile.
func (b *budget) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiters, w); i >= 0 {
		b.waiters = slices.Delete(b.waiters, i, i+1)
	} else {
		b.giveBack(w.hold)
	}
	b.admit()
}

func (b *budget) release(h Hold) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveBack(h)
	b.admit()
}

// giveBack gives the bytes of a hold back, unless they are back already.
func (b *budget) giveBack(h Hold) {
	r := h.record
	if r.generation != h.generation {
		return
	}
	r.generation++
	r.next, b.free = b.free, r
	b.inFlight -= r.bytes
}

func (b *budget) resize(size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size = size
	b.admit()
}

// admit admits waiters in order, as long as they fit.
func (b *budget) admit() {
	for len(b.waiters) > 0 && b.fits(b.waiters[0].bytes) {
		w := b.waiters[0]
		b.waiters[0] = nil
		b.waiters = b.waiters[1:]
		w.hold = b.take(w.bytes)
		close(w.admitted)
	}
}

func (b *budget) snapshot() (size, inFlight int64, waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size, b.inFlight, len(b.waiters)
}
