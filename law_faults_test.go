package weir_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
)

// A lawFunc is a law made of the function that starts it.
type lawFunc func(law.Bounds) (law.Controller, error)

func (f lawFunc) Controller(b law.Bounds) (law.Controller, error) { return f(b) }

// A law that returns neither a controller nor an error is an error that says so.
func TestLawWithoutAController(t *testing.T) {
	nothing := lawFunc(func(law.Bounds) (law.Controller, error) { return nil, nil })
	_, made := weir.New(weir.Config{Name: "search", Law: nothing})
	l := newLimiter(t, weir.Config{Max: 7})
	updated := l.Update(weir.Config{Name: "search", Max: 9, Law: nothing})
	_, joined := inside.New(weir.Config{Name: "search", Law: nothing}, admit.NewGroup(1), admit.Allocation{})
	for _, err := range []error{made, updated, joined} {
		if !errors.Is(err, weir.ErrConfig) {
			t.Fatalf("got %v, want weir.ErrConfig", err)
		}
		for _, part := range []string{`"search"`, "weir_test.lawFunc", "neither a controller nor an error"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
	if s := l.Snapshot(); s.Max != 7 {
		t.Errorf("the update was applied: %v", l)
	}
}

// faulty is a law that panics in the calls that are set.
type faulty struct{ controller, retune, first bool }

func (f *faulty) Controller(law.Bounds) (law.Controller, error) {
	if f.controller {
		panic("controller")
	}
	return f, nil
}

func (f *faulty) Next(w law.Window) law.Decision {
	if f.first {
		panic("first")
	}
	return law.Decision{Limit: float64(w.Limit)}
}

func (f *faulty) Retune(l law.Law) bool {
	next, ok := l.(*faulty)
	if ok && next.retune {
		panic("retune")
	}
	return ok
}

// An update in which a law panics is applied whole, or not at all if the law does not even start.
func TestUpdateWithAPanicIsWhole(t *testing.T) {
	for name, c := range map[string]struct {
		old, law law.Law
		max      int // afterwards
	}{
		"the law does not start":       {law.Fixed{}, &faulty{controller: true}, 50},
		"it does not decide":           {law.Fixed{}, &faulty{first: true}, 30},
		"the old one cannot be asked":  {&faulty{}, &faulty{retune: true}, 30},
		"the old one, and the new one": {&faulty{}, &faulty{retune: true, first: true}, 30},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, weir.Config{Name: "old", Max: 50, Initial: 40, Law: c.old})
				held := hold(t, l, 1)
				panicked := func() (v any) {
					defer func() { v = recover() }()
					_ = l.Update(weir.Config{Name: "new", Max: 30, Law: c.law, Queue: weir.Queue{Size: 1}})
					return nil
				}()
				if panicked == nil {
					t.Error("the panic was swallowed")
				}
				s, applied := l.Snapshot(), c.max == 30
				if s.Max != c.max || (s.Limit == 30) != applied || (s.Name == "new") != applied {
					t.Errorf("name %q, limit %d, maximum %d: want all of it or nothing", s.Name, s.Limit, s.Max)
				}
				held = append(held, hold(t, l, s.Limit-1)...)
				waiting := ask(t.Context(), l, 1)
				if (len(waiting) == 0) != applied {
					t.Errorf("a queue: %v, want %v", len(waiting) == 0, applied)
				}
				for _, p := range held {
					p.Release()
				}
				time.Sleep(time.Minute)
				update(t, l, weir.Config{Law: law.Fixed{}})
				if a := now(t, waiting); a.err == nil {
					a.permit.Release()
				}
				balanced(t, l)
			})
		})
	}
}

// A breaker that wants no outcome returns no function.
func TestBreakerThatWantsNoOutcome(t *testing.T) {
	l := newLimiter(t, weir.Config{Max: 1, Breaker: mute{}})
	p := hold(t, l, 1)[0]
	if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrRefused) {
		t.Error(err)
	}
	if _, ok := l.TryAcquire(t.Context()); ok {
		t.Error("admitted above the limit")
	}
	p.Done(nil)
	balanced(t, l)
}

type mute struct{}

func (mute) Allow(context.Context) (func(weir.Outcome), error) { return nil, nil }
