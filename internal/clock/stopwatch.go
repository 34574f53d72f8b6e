package clock

import (
	"sync"
	"time"
)

// A Stopwatch sums the times for which goroutines wait, including waits that still last. The zero
// Stopwatch is ready.
type Stopwatch struct {
	mu      sync.Mutex
	waiting int64
	last    int64         // when total was last updated
	total   time.Duration // up to last
}

// Start begins a wait.
func (s *Stopwatch) Start() { s.turn(1) }

// Stop ends a wait.
func (s *Stopwatch) Stop() { s.turn(-1) }

// Total returns the sum up to now.
func (s *Stopwatch) Total() time.Duration { return s.turn(0) }

func (s *Stopwatch) turn(by int64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := Now()
	s.total += time.Duration(s.waiting * (now - s.last))
	s.last = now
	s.waiting += by
	return s.total
}
