package weir_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// everything has no setting at its default, and no function.
var everything = weir.Config{
	Name: "search", Min: 2, Max: 300, Initial: 40, Law: law.Band{Target: time.Second},
	Interval: 2 * time.Second, Window: 30 * time.Second, MinSamples: 7,
	Queue:   weir.Queue{Size: 9, Timeout: 3 * time.Second, Discipline: weir.Adaptive, Tenants: 1024},
	Timeout: 4 * time.Second, Breaker: new(breaker), Histograms: true, Shadow: true,
}

// Config returns the configuration that was given, whatever else changed, and Update accepts
// it.
func TestConfigIsWhatWasGiven(t *testing.T) {
	for name, l := range map[string]*weir.Limiter{
		"new": newLimiter(t, everything), "updated": newLimiter(t, weir.Config{}),
	} {
		if name == "updated" {
			update(t, l, everything)
		}
		setCap(t, l, 3)
		got := l.Config()
		if !reflect.DeepEqual(got, everything) {
			t.Errorf("%s: %+v\nwant %+v", name, got, everything)
		}
		update(t, l, got)
		if again := l.Config(); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: %+v after an update with what was read: want %+v", name, again, got)
		}
		update(t, l, weir.Config{})
		if got := l.Config(); !reflect.DeepEqual(got, newLimiter(t, weir.Config{}).Config()) {
			t.Errorf("%s: %+v: want nothing of the last one", name, got)
		}
	}
}

// A new field of Config is missing above until it is named there.
func TestConfigIsReadWhole(t *testing.T) {
	functions := map[string]bool{"Classify": true, "OnEvent": true, "Exemplar": true}
	for _, part := range []reflect.Value{reflect.ValueOf(everything), reflect.ValueOf(everything.Queue)} {
		for i := range part.NumField() {
			if name := part.Type().Field(i).Name; part.Field(i).IsZero() != functions[name] {
				t.Errorf("%s: want a value that is not its default", name)
			}
		}
	}
	called := ""
	c := newLimiter(t, weir.Config{
		Classify:   func(error) weir.Outcome { called += "classify "; return weir.Ignore },
		OnEvent:    func(weir.Event) { called += "event " },
		Exemplar:   func(context.Context) string { called += "exemplar"; return "" },
		Histograms: true,
	}).Config()
	if c.Classify == nil || c.OnEvent == nil || c.Exemplar == nil {
		t.Fatal("a function is missing")
	}
	c.Classify(nil)
	c.OnEvent(weir.Event{})
	c.Exemplar(t.Context())
	if called != "classify event exemplar" {
		t.Errorf("called %q", called)
	}
}

func TestUpdateInvalidIsRefusedWhole(t *testing.T) {
	l := newLimiter(t, weir.Config{Name: "search", Initial: 10, Max: 50})
	before := l.String()
	for name, c := range map[string]weir.Config{
		"weir: ": {Name: "other", Max: 5, Min: 6},
		"law: ":  {Name: "other", Max: 5, Law: law.Band{Factor: 2}},
	} {
		err := l.Update(c)
		if !errors.Is(err, weir.ErrConfig) && !errors.Is(err, law.ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
	if after := l.String(); after != before {
		t.Errorf("changed from\n%s to\n%s", before, after)
	}
	if n := len(l.History()); n != 0 {
		t.Errorf("%d changes", n)
	}
}

func TestUpdateToAnotherLawIsAnEvent(t *testing.T) {
	var j limittest.Journal
	c := weir.Config{Initial: 10, Law: law.Band{}, OnEvent: j.Note}
	l := newLimiter(t, c)
	update(t, l, c)
	c.Law = law.Band{Factor: 0.5, Cooldown: time.Second} // by which the law in use is retuned
	update(t, l, c)
	if len(j.Events) != 0 || len(l.History()) != 0 {
		t.Errorf("an update that moves no limit and replaces no law is reported: %v", j.Events)
	}
	c.Law = law.Fixed{}
	update(t, l, c)
	replaced := j.Of(weir.LawReplaced)
	if len(replaced) != 1 || replaced[0].Change.From != 10 || replaced[0].Change.To != 10 {
		t.Fatalf("events %v: want one of a law replaced that leaves the limit at 10", j.Events)
	}
	j.Gapless(t)
	if l.Snapshot().Limit != 10 {
		t.Error("the limit moved")
	}
}

func TestUpdateComparesNoLaws(t *testing.T) {
	c := weir.Config{Law: script(func(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit)} })}
	l := newLimiter(t, c) // comparing functions panics
	update(t, l, c)
	update(t, l, c)
}

// elsewhere is a law that does something when it starts.
type elsewhere struct{ does func() }

func (e elsewhere) Controller(b law.Bounds) (law.Controller, error) {
	e.does()
	return law.Fixed{}.Controller(b)
}

// A law may update any limiter but its own.
func TestUpdateFromALaw(t *testing.T) {
	l, other := newLimiter(t, weir.Config{}), newLimiter(t, weir.Config{})
	updated := make(chan bool)
	go func() {
		defer close(updated)
		update(t, l, weir.Config{Name: "l", Law: elsewhere{func() { update(t, other, weir.Config{Name: "other"}) }}})
	}()
	select {
	case <-updated:
	case <-time.After(time.Minute):
		t.Fatal("the updates wait for each other")
	}
	if l.Snapshot().Name != "l" || other.Snapshot().Name != "other" {
		t.Errorf("%v, %v", l, other)
	}
}

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
				if a := now(t, waiting); a.Err == nil {
					a.Permit.Release()
				}
				balanced(t, l)
			})
		})
	}
}
