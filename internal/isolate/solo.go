package isolate

import (
	"sync"
	"time"
)

// A Solo runs calls on goroutines of their own, one at a time. The zero Solo is ready to use. Its
// methods are safe for concurrent use.
type Solo struct {
	mu   sync.Mutex
	done chan struct{} // closed when the call has returned; nil if none is running
}

// Start starts the call, unless one is still running.
func (s *Solo) Start(call func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done != nil {
		return
	}
	s.done = make(chan struct{})
	go func() {
		call()
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.done)
		s.done = nil
	}()
}

// Done returns a channel that is closed when no call is running.
func (s *Solo) Done() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		return closed
	}
	return s.done
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Wait waits until no call is running, and reports false if that takes longer than the given time.
func (s *Solo) Wait(most time.Duration) bool {
	done := s.Done()
	select {
	case <-done:
		return true
	default:
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
