package bulkhead_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/law"
)

// TestOneKeyOverloadedLeavesTheOtherAlone: search is flooded with 50 requests of
// 200 ms, checkout gets 20 of 10 ms, in four batches 15 ms apart, and takes exactly as
// long as by itself. With a cap over both it is the same, also when search wants a
// hundred times its share.
func TestOneKeyOverloadedLeavesTheOtherAlone(t *testing.T) {
	for name, c := range map[string]struct {
		capped int
		flood  int
	}{
		"no cap":                             {0, 50},
		"capped":                             {7, 50},
		"capped, at a hundred times a share": {7, 200},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				search, checkout := fixed(2, 2, 50*time.Millisecond), fixed(5, 10, 200*time.Millisecond)
				if c.capped > 0 {
					checkout.Reserved = 5
					search.Config.Initial = c.capped // borrows all that is left
				}
				s := newSet(t, bulkhead.Config{
					Max:   c.capped,
					ByKey: map[string]bulkhead.Compartment{"search": search, "checkout": checkout},
				})
				var all sync.WaitGroup
				for range c.flood {
					all.Go(func() { _ = s.Do(t.Context(), "search", work(200*time.Millisecond)) })
				}
				synctest.Wait()
				for batch := range 4 {
					for range 5 {
						all.Go(func() {
							time.Sleep(time.Duration(batch) * 15 * time.Millisecond)
							began := time.Now()
							if err := s.Do(t.Context(), "checkout", work(10*time.Millisecond)); err != nil {
								t.Error(err)
							}
							if took := time.Since(began); took != 10*time.Millisecond {
								t.Errorf("checkout took %v, alone it takes 10ms", took)
							}
						})
					}
				}
				all.Wait()
				snap := s.Snapshot()
				a, b := snap.ByKey["search"], snap.ByKey["checkout"]
				if a.Refused[weir.ReasonQueueFull] != uint64(c.flood-4) || a.Refused[weir.ReasonQueueTimeout] != 2 ||
					a.Completed != 2 {
					t.Errorf("search: %v", a.Refused)
				}
				if b.RefusedTotal() != 0 || b.Completed != 20 || b.QueueWait != 0 {
					t.Errorf("checkout: %+v", b)
				}
				if snap.Total.Completed != 22 || snap.Total.RefusedTotal() != a.RefusedTotal() {
					t.Errorf("total: %+v", snap.Total)
				}
				balanced(t, s)
			})
		})
	}
}

// A key in shadow mode takes the slots of the cap that it would have, and none once its work has
// ended, although virtual work is left then that nothing ends.
func TestKeyInShadowModeGivesItsSlotsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tried := fixed(10, 100, time.Minute)
		tried.Config.Shadow = true
		s := newSet(t, bulkhead.Config{Max: 20, ByKey: byKey{"tried": tried, "live": fixed(20, 0, 0)}})
		running := hold(t, s, "tried", 60)
		beside := hold(t, s, "live", 10)
		if _, err := s.TryAcquire(t.Context(), "live"); err == nil {
			t.Error("admitted in place of work that the key in shadow mode would run")
		}
		giveBack(append(running, beside...))
		for range 5 {
			together.Do(60, func(int) { must.Do(t, s.Do(t.Context(), "tried", work(20*time.Millisecond))) })
		}
		hold(t, s, "live", 20)
	})
}

// No argument makes a call panic or lose a slot.
func TestBadInput(t *testing.T) {
	s := newSet(t, bulkhead.Config{Max: 4, ByKey: byKey{"a": fixed(4, 0, 0)}})
	for _, c := range []struct {
		key    string
		weight int
		want   error
	}{
		{"a", 0, weir.ErrConfig},
		{"a", math.MinInt, weir.ErrConfig},
		{"a", math.MaxInt, weir.ErrConfig},
		{"a", 5, weir.ErrTooHeavy}, // above the cap
		{"a", 4, nil},
		{"", 1, bulkhead.ErrKey},
		{"\x00\n\xff%s", 1, nil},
		{bulkhead.Overflow, 1, nil},
	} {
		work := func(context.Context) error {
			if n := s.Snapshot().Total.InFlight; n != c.weight {
				t.Errorf("%q: %d in flight, want %d", c.key, n, c.weight)
			}
			return nil
		}
		permit, acquired := s.AcquireN(t.Context(), c.key, c.weight)
		permit.Release()
		all := []error{acquired, s.DoN(t.Context(), c.key, c.weight, work)}
		if h, err := s.Handle(c.key); err == nil {
			all = append(all, h.DoN(t.Context(), c.weight, work))
		}
		for _, err := range all {
			if !errors.Is(err, c.want) || err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, weight %d: %v, want %v", c.key, c.weight, err, c.want)
			}
		}
	}
	balanced(t, s)
}

// Work that will not wait is refused, though the queue has room.
func TestTryAcquireDoesNotWait(t *testing.T) {
	s := newSet(t, bulkhead.Config{ByKey: byKey{"a": fixed(1, 1, time.Hour)}})
	for _, permit := range limittest.Hold(t, s, "a", 1) {
		defer permit.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := s.TryAcquire(ctx, "a")
	h := must.Have(s.Handle("a"))(t)
	_, other := h.TryAcquire(ctx)
	if !errors.Is(err, weir.ErrLimitReached) || !errors.Is(other, weir.ErrLimitReached) {
		t.Errorf("%v, %v: want that the limit is reached", err, other)
	}
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
	"what makes breakers": {ofKey: func(k *bulkhead.Compartment, act func()) {
		k.Breaker = func(string) weir.Breaker { act(); return nil }
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

// The callbacks that a set adds to those of a limiter may call every method of the set that does
// not wait for the caller, but for laws, which must not call it; they may panic and may end the
// caller's goroutine. No slot is lost, no lock is held, and the set can be used as before.
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
			if p, err := s.TryAcquire(t.Context(), key); err == nil {
				p.Done(nil)
			}
		}
		if p, err := handle.TryAcquire(t.Context()); err == nil {
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

	for i := range 20 {
		for _, key := range []string{"a", "b", "x", string(rune('p' + i))} {
			limittest.Unwind(func() {
				_ = s.Do(t.Context(), key, work(50*time.Millisecond))
			})
			limittest.Unwind(func() {
				if p, err := s.TryAcquire(t.Context(), key); err == nil {
					time.Sleep(50 * time.Millisecond)
					p.Done(errors.New("failed"))
				}
			})
			for range 6 { // some wait, and some are refused
				go limittest.Unwind(func() {
					ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
					defer cancel()
					_ = s.Do(ctx, key, work(50*time.Millisecond))
				})
			}
		}
		updating.Store(true)
		limittest.Unwind(func() { _ = s.Update(config) })
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
	giveBack(append(hold(t, s, "a", 3), hold(t, s, "b", 3)...))
	giveBack(hold(t, s, "yet another", 2))
	balanced(t, s)
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
