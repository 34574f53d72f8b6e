package bulkhead_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

// faulty is a law that panics when it is retuned by one that is told to have it do so.
type faulty struct{ retune func() }

func (f faulty) Controller(law.Bounds) (law.Controller, error) { return faultyController{}, nil }

type faultyController struct{}

func (faultyController) Next(w law.Window) law.Decision {
	return law.Decision{Limit: float64(w.Limit)}
}

func (faultyController) Retune(l law.Law) bool {
	if f, ok := l.(faulty); ok && f.retune != nil {
		f.retune()
	}
	return true
}

func faultyKey(initial int, retune func()) bulkhead.Compartment {
	return bulkhead.Compartment{Config: weir.Config{Min: initial, Max: initial, Law: faulty{retune}}, Reserved: 1}
}

// leaves calls f, which is to panic or to end its goroutine.
func leaves(t *testing.T, f func()) {
	t.Helper()
	returned := make(chan bool)
	go func() {
		ended := false
		defer func() {
			_ = recover()
			returned <- ended
		}()
		f()
		ended = true
	}()
	if <-returned {
		t.Error("it returned, and swallowed the panic or the exit")
	}
}

// A set one of whose laws panics in the middle of an update has it whole all the same. If it exits,
// its own key keeps what it had.
func TestUpdateWithAPanicIsWhole(t *testing.T) {
	keys := []string{"a", "b", "c", "d", "e"}
	table := func(limit int, retune func()) bulkhead.Config {
		c := bulkhead.Config{Max: 100, Default: fixed(limit, 0, 0), ByKey: byKey{}}
		for _, key := range keys {
			c.ByKey[key] = faultyKey(limit, nil)
		}
		c.ByKey["c"] = faultyKey(limit, retune)
		return c
	}
	for name, fault := range map[string]func(){"panic": func() { panic("boom") }, "exit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			s := newSet(t, table(10, nil))
			hold(t, s, "dynamic", 1)[0].Done(nil)
			leaves(t, func() { _ = s.Update(table(20, fault)) })
			for _, key := range append(keys, "dynamic") {
				want := 20
				if key == "c" && name == "exit" {
					want = 10
				}
				if k := s.Snapshot().ByKey[key]; k.Limit != want {
					t.Errorf("%s has limit %d, want %d", key, k.Limit, want)
				}
			}
			if err := s.Update(table(30, nil)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A breaker that cannot be made keeps all of the update from being applied.
func TestUpdateWithoutItsBreakerIsNotApplied(t *testing.T) {
	c := bulkhead.Config{Max: 10, ByKey: byKey{"a": fixed(2, 0, 0), "b": fixed(2, 0, 0)}}
	s := newSet(t, c)
	hold(t, s, "dynamic", 1)[0].Done(nil)
	before := s.Snapshot()
	for _, bad := range []string{"a", "dynamic", "new"} {
		broken := fixed(9, 0, 0)
		broken.Breaker = func(key string) weir.Breaker {
			if key == bad {
				panic("boom")
			}
			return nil
		}
		next := bulkhead.Config{Max: 50, Default: broken, ByKey: byKey{"a": broken, "b": broken, "new": broken, "other": broken}}
		leaves(t, func() { _ = s.Update(next) })
		after := s.Snapshot()
		if after.Max != before.Max || len(after.ByKey) != len(before.ByKey) {
			t.Errorf("%s: cap %d and %d keys: want %d and %d", bad, after.Max, len(after.ByKey), before.Max, len(before.ByKey))
		}
		for key, k := range after.ByKey {
			if k.Limit != before.ByKey[key].Limit {
				t.Errorf("%s: %q has limit %d, want %d", bad, key, k.Limit, before.ByKey[key].Limit)
			}
		}
	}
	if err := s.Update(c); err != nil {
		t.Error(err)
	}
}

// A law that starts nothing is found before anything is changed.
func TestLawWithoutAController(t *testing.T) {
	nothing := bulkhead.Compartment{Config: weir.Config{Law: none{}}, Budget: time.Second}
	_, err := bulkhead.New(bulkhead.Config{ByKey: byKey{"a": nothing}})
	if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), `ByKey["a"].Config: bulkhead_test.none returned neither a controller nor an error`) {
		t.Errorf("got %v", err)
	}
}

type none struct{}

func (none) Controller(law.Bounds) (law.Controller, error) { return nil, nil }
