package feed

import "sync"

// A Reader has the events that its owner has yet to read. Its methods are safe for concurrent use.
type Reader[E any] struct {
	lost func(*E) *uint64 // where an event says how many were lost before it

	mu     sync.Mutex // held for a few dozen nanoseconds, and never while anything waits
	events chan E
	closed bool
}

// New returns a reader that holds so many events, at least 1. Each says at lost how many the reader
// lost before it.
func New[E any](size int, lost func(*E) *uint64) *Reader[E] {
	return &Reader[E]{lost: lost, events: make(chan E, max(size, 1))}
}

// Events returns the channel of the events, which Close closes.
func (r *Reader[E]) Events() <-chan E { return r.events }

// Tell hands over an event. In a full channel it takes the place of the oldest, and counts that as
// lost: the newest event always arrives, so a reader that has read all of them knows of all that it
// lost.
func (r *Reader[E]) Tell(e E) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	for {
		select {
		case r.events <- e:
			return
		default:
		}
		select {
		case oldest := <-r.events:
			*r.lost(&e) += *r.lost(&oldest) + 1
		default: // it was read in the meantime
		}
	}
}

// Close ends the channel; what it holds can still be read. Closing twice is closing once.
func (r *Reader[E]) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		close(r.events)
	}
}
