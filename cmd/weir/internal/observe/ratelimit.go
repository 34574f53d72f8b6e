package observe

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// perSecond is the number of records that pass in a second: enough for all listeners to
// report errors, too few to fill a disk.
const perSecond = 5

// RateLimited returns a handler for records that clients can cause. It passes a few records a
// second to next. The first record of a later second reports the number of dropped records.
func RateLimited(next slog.Handler) slog.Handler {
	return rateLimited{next, new(budget)}
}

type rateLimited struct {
	slog.Handler
	*budget
}

// budget is the state that handlers with attributes share.
type budget struct {
	mu     sync.Mutex
	second time.Time // start of the second
	passed int
	left   int // dropped records
}

// Handle implements [slog.Handler].
func (s rateLimited) Handle(ctx context.Context, r slog.Record) error {
	pass, left := s.pass(r.Time)
	if !pass {
		return nil
	}
	if left > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("left_out", left))
	}
	return s.Handler.Handle(ctx, r)
}

func (s *budget) pass(at time.Time) (pass bool, left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Sub(s.second) >= time.Second {
		s.second, s.passed = at, 0
	}
	if s.passed == perSecond {
		s.left++
		return false, 0
	}
	s.passed++
	left, s.left = s.left, 0
	return true, left
}

// WithAttrs implements [slog.Handler].
func (s rateLimited) WithAttrs(attrs []slog.Attr) slog.Handler {
	return rateLimited{s.Handler.WithAttrs(attrs), s.budget}
}

// WithGroup implements [slog.Handler].
func (s rateLimited) WithGroup(name string) slog.Handler {
	return rateLimited{s.Handler.WithGroup(name), s.budget}
}
