package bulkhead_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
)

// A breaker is one that opens at the first failure, until it is mended.
type breaker struct{ open atomic.Bool }

func (b *breaker) Allow(context.Context) (func(weir.Outcome), error) {
	if b.open.Load() {
		return nil, errors.New("open")
	}
	return func(o weir.Outcome) {
		if o == weir.Failure {
			b.open.Store(true)
		}
	}, nil
}

func TestEachKeyHasItsBreaker(t *testing.T) {
	made := map[string]*breaker{}
	c := bulkhead.Config{MaxKeys: 10, Max: 10, Default: fixed(5, 0, 0), ByKey: byKey{"named": fixed(5, 0, 0)}}
	c.Default.Breaker = func(key string) weir.Breaker {
		made[key] = &breaker{}
		return made[key]
	}
	s := newSet(t, c)
	broken := func(context.Context) error { return errors.New("broken") }
	_ = s.Do(t.Context(), "a", broken)
	err := s.Do(t.Context(), "a", work(0))
	if !errors.Is(err, weir.ErrBreakerOpen) || err.Error() != `weir: limiter "a" refused: breaker open` {
		t.Errorf("got %v", err)
	}
	if err := s.Do(t.Context(), "b", work(0)); err != nil {
		t.Errorf("b hears of a's breaker: %v", err)
	}
	_ = s.Do(t.Context(), "named", broken)
	if err := s.Do(t.Context(), "named", work(0)); err != nil {
		t.Errorf("has no breaker: %v", err)
	}

	c.ByKey["a"] = c.Default
	update(t, s, c)
	if err := s.Do(t.Context(), "a", work(0)); !errors.Is(err, weir.ErrBreakerOpen) {
		t.Errorf("an update lost the breaker: %v", err)
	}
	if n := len(made); n != 2 { // of a and b: the overflow had no work
		t.Errorf("%d breakers were made", n)
	}
	c.ByKey["a"] = fixed(5, 0, 0)
	update(t, s, c)
	if err := s.Do(t.Context(), "a", work(0)); err != nil {
		t.Errorf("an update left the breaker: %v", err)
	}
	if n := s.Snapshot().Total.Refused[weir.ReasonBreakerOpen]; n != 2 {
		t.Errorf("%d refused by a breaker, want 2", n)
	}
}
