package relay

import (
	"sync"

	"github.com/weir-go/weir/memory"
)

// A share is what a connection may keep in memory: bytes of its own, which are there for as many connections as there may be, and beyond them what the memory governor
// lets it keep. So clients that keep much are refused, and never those that keep little.
type share struct {
	own  int
	keep func(bytes int) (memory.Hold, error) // the governor's

	mu    sync.Mutex
	bytes int
	holds []memory.Hold // of a quantum each, for what is beyond its own
}

const (
	// quantum is how much is asked of the governor at a time, so that a message of a few hundred bytes seldom asks.
	quantum = 4 << 10

	ownSubscriptions = 4 << 10 // eight subscriptions to an author or a kind each
	ownOutbox        = 4 << 10 // a few events
)

// take reports false if there is no room.
func (s *share) take(bytes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.holds)
	s.bytes += bytes
	for s.bytes > s.own+len(s.holds)*quantum {
		hold, err := s.keep(quantum)
		if err != nil {
			s.bytes -= bytes
			s.release(before)
			return false
		}
		s.holds = append(s.holds, hold)
	}
	return true
}

// force takes bytes whether or not there is room.
func (s *share) force(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += bytes
}

// give gives back what was taken.
func (s *share) give(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= bytes
	s.release((max(s.bytes-s.own, 0) + quantum - 1) / quantum)
}

// release leaves so many quanta.
func (s *share) release(leave int) {
	for i := leave; i < len(s.holds); i++ {
		s.holds[i].Release()
	}
	if s.holds = s.holds[:min(leave, len(s.holds))]; leave == 0 {
		s.holds = nil
	}
}
