package retry

import "time"

// buckets is how many parts a window has: an event leaves it up to a twentieth of the window early.
const buckets = 20

// A window holds recent events, in buckets of equal width.
type window[B any] struct {
	width  int64
	newest int64 // number of the bucket of the latest time seen
	ring   [buckets]B
}

func newWindow[B any](length time.Duration) window[B] {
	return window[B]{width: int64(length) / buckets}
}

// advance drops events that have left the window. now is a time of internal/clock, far above
// 0. If the clock was turned back, as for a client that was made outside of a
// testing/synctest bubble, the window begins anew.
func (w *window[B]) advance(now int64) {
	number := now / w.width
	switch past := number - w.newest; {
	case past < 0, past >= buckets:
		clear(w.ring[:])
	default:
		for n := w.newest + 1; n <= number; n++ {
			*w.slot(n) = *new(B)
		}
	}
	w.newest = number
}

// slot returns the place of a bucket in the ring.
func (w *window[B]) slot(number int64) *B {
	return &w.ring[number%buckets]
}

func (w *window[B]) current() *B { return w.slot(w.newest) }

func (w *window[B]) holds(number int64) bool {
	return number <= w.newest && number > w.newest-buckets
}
