package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir/internal/settings"
)

// Take waits until the bytes fit into the budget, and takes them. Call it before the memory is
// used. A request larger than the budget is admitted alone, when nothing else is in flight. Waiters
// are admitted in the order of their calls.
//
// If ctx ends first, the error matches context.Cause(ctx); after Close it is [ErrClosed].
// Negative bytes are an error that matches [ErrConfig]. A nil ctx counts as
// context.Background. Take does not allocate unless it has to wait.
func (g *Governor) Take(ctx context.Context, bytes int) (Hold, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if bytes < 0 {
		return Hold{}, settings.Invalid(ErrConfig, "bytes", bytes, "0 or more")
	}
	if ctx.Err() != nil {
		return Hold{}, context.Cause(ctx)
	}
	if g.isClosed() {
		return Hold{}, ErrClosed
	}
	w := g.budget.try(int64(bytes))
	if w != nil {
		if err := g.wait(ctx, w); err != nil {
			return Hold{}, err
		}
	}
	return Hold{&g.budget, int64(bytes)}, nil
}

func (g *Governor) wait(ctx context.Context, w *waiter) (err error) {
	began := time.Now()
	defer func() { g.waited.Add(int64(time.Since(began))) }()
	select {
	case <-w.admitted:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-g.closed:
		err = ErrClosed
	}
	g.budget.leave(w)
	return err
}

// Keep takes bytes for as long as a client stays, such as those of a session, a subscription or a
// queue of answers. It does not wait. The error is [ErrFull] if more than an eighth of the target
// would be kept, or if the target leaves no room for work (a [Snapshot.Load] of 1); [ErrClosed]
// after Close; and one that matches [ErrConfig] for negative bytes. Keep does not allocate.
//
// Kept bytes are not in flight: otherwise a client that stays would stop the import. A collection
// leaves them in memory, so they make the budget of Take smaller.
func (g *Governor) Keep(bytes int) (Hold, error) {
	switch {
	case bytes < 0:
		return Hold{}, settings.Invalid(ErrConfig, "bytes", bytes, "0 or more")
	case g.isClosed():
		return Hold{}, ErrClosed
	case !g.kept.keep(int64(bytes)):
		return Hold{}, ErrFull
	}
	return Hold{&g.kept, int64(bytes)}, nil
}

// A Hold is a number of bytes, in flight or kept. The zero Hold has none.
type Hold struct {
	budget *budget
	bytes  int64
}

// Release gives the bytes back. A second Release of the same Hold does nothing; a copy of it must
// not be released.
func (h *Hold) Release() {
	if h.budget == nil {
		return
	}
	h.budget.give(h.bytes)
	*h = Hold{}
}

// budget is a first-in-first-out queue for bytes. weir.Limiter and capacity.Capacity do not admit
// a request larger than the limit, which may also have become so while the request waited.
type budget struct {
	mu       sync.Mutex
	size     int64
	inFlight int64
	waiters  []*waiter
}

type waiter struct {
	bytes    int64
	admitted chan struct{} // closed once it is
}

// fits subtracts, because a sum with the largest number would be negative, and fit.
func (b *budget) fits(bytes int64) bool { return b.inFlight == 0 || bytes <= b.size-b.inFlight }

// keep takes bytes if they fit, also if nothing else is taken.
func (b *budget) keep(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	fits := bytes <= b.size-b.inFlight
	if fits {
		b.inFlight += bytes
	}
	return fits
}

// try takes bytes, or returns a waiter in the queue.
func (b *budget) try(bytes int64) *waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 && b.fits(bytes) {
		b.inFlight += bytes
		return nil
	}
	w := &waiter{bytes, make(chan struct{})}
	b.waiters = append(b.waiters, w)
	return w
}

// leave removes a waiter from the queue, or gives back its bytes if it was admitted meanwhile.
func (b *budget) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiters, w); i >= 0 {
		b.waiters = slices.Delete(b.waiters, i, i+1)
	} else {
		b.inFlight -= w.bytes
	}
	b.admit()
}

func (b *budget) give(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight -= bytes
	b.admit()
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
		b.inFlight += w.bytes
		close(w.admitted)
	}
}

func (b *budget) snapshot() (size, inFlight int64, waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size, b.inFlight, len(b.waiters)
}
