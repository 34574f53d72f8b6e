package bulkhead_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

// hostileBreaker runs a function in Allow, and another one for an outcome.
type hostileBreaker struct{ allow, done func() }

func (b hostileBreaker) Allow(context.Context) (func(weir.Outcome), error) {
	b.allow()
	return func(weir.Outcome) { b.done() }, nil
}

// hostileLaw moves its limit to and fro, and runs a function as it is started, asked and
// retuned.
type hostileLaw struct{ start, next, retune func() }

func (l hostileLaw) Controller(law.Bounds) (law.Controller, error) { l.start(); return l, nil }

func (l hostileLaw) Next(w law.Window) law.Decision {
	l.next()
	return law.Decision{Limit: float64(5 - w.Limit)}
}

func (l hostileLaw) Retune(to law.Law) bool {
	l.retune()
	_, ok := to.(hostileLaw)
	return ok
}

func nothing() {}

// A callback puts code of the user at one place of the settings of a key, or of all keys.
type callback struct {
	ofSet func(c *bulkhead.Config, act func())
	ofKey func(k *bulkhead.Compartment, act func())
	locks bool // it runs under the lock of its limiter, and must not call the set
}

var callbacks = map[string]callback{
	"OnEvent of the set": {ofSet: func(c *bulkhead.Config, act func()) { c.OnEvent = func(weir.Event) { act() } }},
	"OnEvent of a key": {ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Config.OnEvent = func(weir.Event) { act() }
	}},
	"Classify": {ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Config.Classify = func(error) weir.Outcome { act(); return weir.Success }
	}},
	"Exemplar": {ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Config.Histograms, k.Config.Exemplar = true, func(context.Context) string { act(); return "id" }
	}},
	"what makes breakers": {ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Breaker = func(string) weir.Breaker { act(); return hostileBreaker{nothing, nothing} }
	}},
	"Allow": {ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Breaker = func(string) weir.Breaker { return hostileBreaker{act, nothing} }
	}},
	"done": {ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Breaker = func(string) weir.Breaker { return hostileBreaker{nothing, act} }
	}},
	"start of a law": {locks: true, ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Config.Law = hostileLaw{act, nothing, nothing}
	}},
	"Next of a law": {locks: true, ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Config.Law = hostileLaw{nothing, act, nothing}
	}},
	"Retune of a law": {locks: true, ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Config.Law = hostileLaw{nothing, nothing, act}
	}},
	"Next of a law under a budget": {locks: true, ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Budget, k.Config.Law = time.Hour, hostileLaw{nothing, act, nothing}
	}},
}

// TestHostileCallbacks: code of the user may call every method of the set that does not wait for
// the caller, but for laws, which must not call it; it may panic and may end its goroutine, on the
// goroutine of the caller. No slot is lost, no lock is held, and the set can be used as before.
func TestHostileCallbacks(t *testing.T) {
	for name, callback := range callbacks {
		for _, way := range []string{"panics", "exits", "calls us"} {
			if way == "calls us" && callback.locks {
				continue
			}
			t.Run(name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testHostile(t, callback, way) })
			})
		}
	}
}

func testHostile(t *testing.T, callback callback, way string) {
	var s *bulkhead.Set
	var config bulkhead.Config
	var handle *bulkhead.Handle
	var calls, acted, nested atomic.Int64
	var updating atomic.Bool
	act := func() {
		if nested.Load() > 0 || s == nil || calls.Add(1)%3 != 0 { // so that it is reached at every step
			return
		}
		acted.Add(1)
		switch way {
		case "panics":
			panic("hostile")
		case "exits":
			runtime.Goexit()
		}
		nested.Add(1)
		defer nested.Add(-1)
		_, _ = s.Snapshot(), s.Config()
		if !updating.Load() { // a hook that hears of an update must not wait for it
			if err := errors.Join(s.Update(config), s.SetMax(6)); err != nil {
				t.Error(err)
			}
		}
		for _, key := range []string{"elsewhere", "another", bulkhead.Overflow} {
			if p, ok := s.TryAcquire(t.Context(), key); ok {
				p.Done(nil)
			}
		}
		if p, ok := handle.TryAcquire(t.Context()); ok {
			p.Done(nil)
		}
	}
	usual := bulkhead.Compartment{Reserved: 1, Config: weir.Config{
		Initial: 2, Min: 1, Max: 4, MinSamples: 1, Interval: 100 * time.Millisecond,
		Queue: weir.Queue{Size: 2, Timeout: time.Second},
		Law:   hostileLaw{nothing, nothing, nothing},
	}}
	hostile := usual
	config = bulkhead.Config{Max: 6, MaxKeys: 3}
	if callback.ofKey != nil {
		callback.ofKey(&hostile, act)
	} else {
		callback.ofSet(&config, act)
	}
	config.ByKey = byKey{"a": hostile, "b": usual, "elsewhere": fixed(1, 0, 0)}
	config.Default = hostile
	config.Default.Reserved = 0
	s = newSet(t, config)
	handle, _ = s.Handle("b")

	call := func(f func()) { // on a goroutine that may end
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			f()
		}()
		<-done
	}
	for i := range 20 {
		for _, key := range []string{"a", "b", "x", string(rune('p' + i))} {
			call(func() {
				_ = s.Do(t.Context(), key, work(50*time.Millisecond))
			})
			call(func() {
				if p, ok := s.TryAcquire(t.Context(), key); ok {
					time.Sleep(50 * time.Millisecond)
					p.Done(errors.New("failed"))
				}
			})
			for range 6 { // some wait, and some are refused
				go call(func() {
					ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
					defer cancel()
					_ = s.Do(ctx, key, work(50*time.Millisecond))
				})
			}
		}
		updating.Store(true)
		call(func() { _ = s.Update(config) })
		updating.Store(false)
		time.Sleep(time.Second)
	}
	if acted.Load() == 0 {
		t.Error("it was never called")
	}
	nested.Add(1) // from now on it behaves
	balanced(t, s)
	config.ByKey = byKey{"a": fixed(3, 0, 0), "b": fixed(3, 0, 0)}
	config.Default = fixed(2, 0, 0)
	if err := s.Update(config); err != nil {
		t.Error(err)
	}
	for _, p := range append(hold(t, s, "a", 3), hold(t, s, "b", 3)...) {
		p.Done(nil)
	}
	for _, p := range hold(t, s, "yet another", 2) {
		p.Done(nil)
	}
	balanced(t, s)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHostileWork: a function that panics or ends its goroutine gives its slot back, and a handle
// that is used by it goes on.
func TestHostileWork(t *testing.T) {
	for name, act := range map[string]func(){"panics": func() { panic("hostile") }, "exits": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			s := newSet(t, bulkhead.Config{Max: 1, MaxKeys: 1, Default: fixed(1, 0, 0)})
			h, err := s.Handle("a")
			if err != nil {
				t.Fatal(err)
			}
			bad := func(context.Context) error { act(); return nil }
			for range 3 {
				leaves(t, func() { _ = s.Do(t.Context(), "a", bad) })
				leaves(t, func() { _ = h.Do(t.Context(), bad) })
				leaves(t, func() {
					_, _ = bulkhead.Do(t.Context(), s, "a", func(context.Context) (int, error) { act(); return 0, nil })
				})
			}
			hold(t, s, "a", 1)[0].Done(nil)
			balanced(t, s)
			hold(t, s, "b", 1)[0].Done(nil) // in the place of a, which nothing keeps
			if snap := s.Snapshot(); snap.Evicted != 1 {
				t.Errorf("%d evicted, want 1: a is still in use", snap.Evicted)
			}
		})
	}
}
