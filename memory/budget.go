package memory

import "sync"

// budget is a queue for bytes: a taker waits until the bytes in flight leave room, first come,
// first served. It is no weir.Limiter and no capacity.Capacity, for a request larger than the
// budget goes alone, also if the budget shrank while it waited, and neither has that.
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

// fits subtracts, for a sum with the largest of numbers would be negative, and fit.
func (b *budget) fits(bytes int64) bool { return b.inFlight == 0 || bytes <= b.size-b.inFlight }

// keep takes bytes if they fit, and nothing goes alone.
func (b *budget) keep(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	fits := bytes <= b.size-b.inFlight
	if fits {
		b.inFlight += bytes
	}
	return fits
}

// try takes bytes or returns the waiter that is now in the queue.
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

// leave takes a waiter out of the queue, or gives back its bytes if it has got them in the
// meantime.
func (b *budget) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiters {
		if other == w {
			b.waiters = append(b.waiters[:i], b.waiters[i+1:]...)
			b.admit()
			return
		}
	}
	b.inFlight -= w.bytes
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
