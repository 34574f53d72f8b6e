package bulkhead_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

func TestCloseRefusesEveryKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{
			Max: 10, Default: fixed(1, 2, time.Minute),
			ByKey: byKey{"named": fixed(1, 1, time.Minute)},
		})
		held := append(hold(t, s, "named", 1), hold(t, s, "known", 1)...)
		waiting := []<-chan answer{ask(t.Context(), s, "named"), ask(t.Context(), s, "known")}
		s.Close()
		s.Close()
		for _, w := range waiting {
			if err := refused(t, w); !errors.Is(err, weir.ErrClosed) {
				t.Error(err)
			}
		}
		for _, key := range []string{"named", "known", "new"} {
			_, err := s.Acquire(t.Context(), key)
			var why *weir.RefusedError
			if !errors.Is(err, weir.ErrClosed) || !errors.As(err, &why) || why.Limiter != key {
				t.Errorf("%s: %v", key, err)
			}
		}
		giveBack(held)
		balanced(t, s)
		must.Do(t, s.Update(bulkhead.Config{Max: 10, ByKey: byKey{"brought": fixed(1, 0, 0)}}))
		if _, err := s.TryAcquire(t.Context(), "brought"); err == nil {
			t.Error("an update opened a closed set")
		}
	})
}

func TestShutdownGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{Default: fixed(1, 2, time.Minute)})
		held := hold(t, s, "a", 1)
		waiting := ask(t.Context(), s, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := refused(t, waiting); !errors.Is(err, weir.ErrClosed) {
			t.Error(err)
		}
		held[0].Done(nil)
	})
}

// A law that panics as a set is closed leaves no key open.
func TestCloseWithAFaultIsWhole(t *testing.T) {
	for call, closes := range map[string]func(s *bulkhead.Set){
		"close":    (*bulkhead.Set).Close,
		"shutdown": func(s *bulkhead.Set) { _ = s.Shutdown(t.Context()) },
	} {
		t.Run(call, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys := []string{"a", "b", "c", "d"}
				config := bulkhead.Config{ByKey: byKey{}}
				for _, key := range keys {
					config.ByKey[key] = bulkhead.Compartment{Config: weir.Config{Law: law.Fixed{}}}
				}
				breaks := nothing
				config.ByKey["b"] = bulkhead.Compartment{Config: weir.Config{Law: hostileLaw{nothing, func() { breaks() }, nothing}, MinSamples: 1}}
				s := newSet(t, config)
				hold(t, s, "b", 1)[0].Done(nil)
				time.Sleep(2 * time.Second)
				breaks = func() { panic("boom") }
				leaves(t, func() { closes(s) })
				for _, key := range keys {
					if _, err := s.Acquire(t.Context(), key); !errors.Is(err, weir.ErrClosed) {
						t.Errorf("%s: %v: want it closed", key, err)
					}
				}
			})
		})
	}
}
