package relay

import (
	"errors"
	"io"
	"sync"

	"github.com/weir-go/weir/memory"
)

// A share is the memory that a connection may keep: bytes of its own, which are reserved for
// the maximum number of connections, and beyond them the bytes that the memory governor
// grants. So clients that keep much are refused, and clients that keep little never are.
type share struct {
	own  int
	keep func(bytes int) (memory.Hold, error) // the governor's

	mu    sync.Mutex
	bytes int
	holds []memory.Hold // of a quantum each, for the bytes beyond its own
}

const (
	// quantum is the number of bytes requested from the governor at a time, so that a
	// message of a few hundred bytes seldom makes a request.
	quantum = 4 << 10

	ownSubscriptions = 4 << 10 // eight subscriptions to an author or a kind each
	ownOutbox        = 4 << 10 // a few events
	ownIncoming      = 4 << 10 // an event of 2 KiB, and the one before it

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

// read reads until EOF, into a buffer whose capacity is taken from the share. The error is
// errNoMemory if the share has no memory for the buffer, or else the error of the reader. After an
// error read has given all bytes back.
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

// grow returns a buffer of twice the capacity. If there is no memory for it, it releases the
// bytes of the old buffer.
func (s *share) grow(text []byte) ([]byte, error) {
	next := max(2*cap(text), leastMessage)
	if !s.take(next - cap(text)) {
		s.give(cap(text))
		return nil, errNoMemory
	}
	return append(make([]byte, 0, next), text...), nil
}

func (s *share) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes = 0
	s.release(0)
}

func (s *share) give(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= bytes
	s.release((max(s.bytes-s.own, 0) + quantum - 1) / quantum)
}

// release keeps the given number of quanta and releases the others.
func (s *share) release(leave int) {
	for i := leave; i < len(s.holds); i++ {
		s.holds[i].Release()
	}
	if s.holds = s.holds[:min(leave, len(s.holds))]; leave == 0 {
		s.holds = nil
	}
}
