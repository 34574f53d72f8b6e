package relay

import (
	"errors"
	"io"
	"sync"

	"github.com/weir-go/weir/memory"
)

// A share is the memory that a connection may keep: bytes of its own, which are there for as many
// connections as there may be, and beyond them what the memory governor lets it keep. So clients
// that keep much are refused, and never those that keep little.
type share struct {
	own  int
	keep func(bytes int) (memory.Hold, error) // the governor's

	mu    sync.Mutex
	bytes int
	holds []memory.Hold // of a quantum each, for bytes beyond its own
}

const (
	// quantum is how much is asked of the governor at a time, so that a message of a few hundred
	// bytes seldom asks.
	quantum = 4 << 10

	ownSubscriptions = 4 << 10 // eight subscriptions to an author or a kind each
	ownOutbox        = 4 << 10 // a few events
	ownIncoming      = 4 << 10 // an event of 2 KiB, beside the one before

	leastMessage = 512 // a buffer for most messages
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

// read reads all, into a buffer whose capacity is taken. The error is errNoMemory if it may not
// grow, or that of the reader; then nothing is taken.
func (s *share) read(r io.Reader) (text []byte, err error) {
	for {
		if len(text) == cap(text) {
			if text, err = s.grow(text); err != nil {
				return nil, err
			}
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			s.give(cap(text))
			return nil, err
		}
	}
}

// grow returns a buffer of twice the capacity. If there is no memory for that, it gives back what
// the buffer has.
func (s *share) grow(text []byte) ([]byte, error) {
	next := max(2*cap(text), leastMessage)
	if !s.take(next - cap(text)) {
		s.give(cap(text))
		return nil, errNoMemory
	}
	return append(make([]byte, 0, next), text...), nil
}

// discard gives all back.
func (s *share) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = 0
	s.release(0)
}

// give gives back taken bytes.
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
