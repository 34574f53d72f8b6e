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

// faulty is a law that panics when a certain law retunes it.
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
// its own key keeps its state.
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

// starting is a law that keeps its limit and calls a function whenever it is started.
type starting func()

func (s starting) Controller(law.Bounds) (law.Controller, error) { s(); return s, nil }

func (starting) Next(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit)} }

// A law of a new key that cannot be started keeps all of the update from being applied, whichever
// of its starts fails.
func TestUpdateWithoutItsLawIsNotApplied(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 10, ByKey: byKey{"a": fixed(2, 0, 0), "b": fixed(2, 0, 0)}})
	hold(t, s, "dynamic", 1)[0].Done(nil)
	before := s.Snapshot()
	update := func(bad int) (done bool) {
		starts := 0
		fails := fixed(9, 0, 0)
		fails.Config.Law = starting(func() {
			if starts++; starts == bad {
				panic("boom")
			}
		})
		next := bulkhead.Config{
			Max: 50, Default: fixed(9, 0, 0),
			ByKey: byKey{"a": fixed(9, 0, 0), "b": fixed(9, 0, 0), "new": fails, "other": fails},
		}
		defer func() { done = recover() == nil }()
		if err := s.Update(next); err != nil {
			t.Error(err)
		}
		return true
	}
	const starts = 4 // of two new keys: to check the settings, and for their limiters
	for bad := 1; bad <= starts; bad++ {
		if update(bad) {
			t.Errorf("start %d did not fail", bad)
		}
		after := s.Snapshot()
		if after.Max != before.Max || len(after.ByKey) != len(before.ByKey) {
			t.Errorf("start %d: cap %d and %d keys: want %d and %d",
				bad, after.Max, len(after.ByKey), before.Max, len(before.ByKey))
		}
		for key, k := range after.ByKey {
			if k.Limit != before.ByKey[key].Limit {
				t.Errorf("start %d: %q has limit %d, want %d", bad, key, k.Limit, before.ByKey[key].Limit)
			}
		}
	}
	if done, after := update(0), s.Snapshot(); !done || after.Max != 50 || after.ByKey["new"].Limit != 9 {
		t.Errorf("the update was done: %v, with a cap of %d and %+v: want 50 and a limit of 9",
			done, after.Max, after.ByKey["new"])
	}
}

// A law that starts nothing is found before anything is changed.
func TestLawWithoutAController(t *testing.T) {
	nothing := bulkhead.Compartment{Config: weir.Config{Law: none{}}, Budget: time.Second}
	_, err := bulkhead.New(bulkhead.Config{ByKey: byKey{"a": nothing}})
	if !errors.Is(err, weir.ErrConfig) ||
		!strings.Contains(err.Error(),
			`ByKey["a"].Config: bulkhead_test.none returned neither a controller nor an error`) {
		t.Errorf("got %v", err)
	}
}

type none struct{}

func (none) Controller(law.Bounds) (law.Controller, error) { return nil, nil }
