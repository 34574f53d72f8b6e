package pebbleload

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// stalls keeps how long writes were stopped.
type stalls struct {
	mu      sync.Mutex
	since   time.Time     // when the stall that lasts began, zero if none does
	stopped time.Duration // in stalls since asked
	asked   time.Time
}

func (s *stalls) listener() pebble.EventListener {
	return pebble.EventListener{
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { s.begin(time.Now()) },
		WriteStallEnd:   func() { s.end(time.Now()) },
	}
}

func (s *stalls) begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = now
}

func (s *stalls) end(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book(now)
	s.since = time.Time{}
}

// book adds the time of a stall that lasts, up to now.
func (s *stalls) book(now time.Time) {
	if !s.since.IsZero() {
		s.stopped += max(now.Sub(s.since), 0)
		s.since = now
	}
}

// share is the share of the time since it was last asked for in which writes were stopped.
func (s *stalls) share(now time.Time) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book(now)
	stopped, elapsed := s.stopped, now.Sub(s.asked)
	s.stopped, s.asked = 0, now
	if elapsed <= 0 {
		return 0
	}
	return min(stopped.Seconds()/elapsed.Seconds(), 1)
}
