package weir_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// hostileBreaker runs allow when it is asked, and done with each outcome.
type hostileBreaker struct{ allow, done func() }

func (b hostileBreaker) Allow(context.Context) (func(weir.Outcome), error) {
	b.allow()
	return func(weir.Outcome) { b.done() }, nil
}

// hostileCallbacks put user code at one place of a configuration.
var hostileCallbacks = map[string]func(c *weir.Config, act func()){
	"OnEvent": func(c *weir.Config, act func()) { c.OnEvent = func(weir.Event) { act() } },
	"Classify": func(c *weir.Config, act func()) {
		c.Classify = func(error) weir.Outcome { act(); return weir.Success }
	},
	"Allow": func(c *weir.Config, act func()) { c.Breaker = hostileBreaker{act, func() {}} },
	"Exemplar": func(c *weir.Config, act func()) {
		c.Histograms, c.Exemplar = true, func(context.Context) string { act(); return "id" }
	},
	"done": func(c *weir.Config, act func()) { c.Breaker = hostileBreaker{func() {}, act} },
}

// TestHostileCallbacks: a hook, a classification, a breaker and an exemplar function may call
// every method of the limiter that does not wait for the caller, may panic and may call
// runtime.Goexit, on the goroutine of the caller. No slot is lost and no lock is held.
func TestHostileCallbacks(t *testing.T) {
	for name, setup := range hostileCallbacks {
		for _, way := range []string{"panics", "exits", "calls us"} {
			t.Run(name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testHostile(t, setup, way) })
			})
		}
	}
}

func testHostile(t *testing.T, setup func(*weir.Config, func()), way string) {
	var lim *weir.Limiter
	var acted, nested atomic.Int64
	config := weir.Config{
		Initial: 2, Min: 1, Max: 4, MinSamples: 1, Interval: 100 * time.Millisecond,
		Queue: weir.Queue{Size: 2, Timeout: time.Second},
		Law:   script(func(w law.Window) law.Decision { return law.Decision{Limit: float64(5 - w.Limit)} }),
	}
	setup(&config, func() {
		if nested.Load() > 0 || lim == nil {
			return
		}
		if acted.Add(1)%3 != 0 { // so that every step is reached
			return
		}
		switch way {
		case "panics":
			panic("hostile")
		case "exits":
			runtime.Goexit()
		}
		nested.Add(1)
		defer nested.Add(-1)
		_ = lim.Snapshot()
		_ = lim.Update(config)
		if p, ok := lim.TryAcquire(t.Context()); ok {
			p.Done(nil)
		}
	})
	lim = newLimiter(t, config)
	call := func(f func()) { // on a goroutine that may end
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { _ = recover() }()
			f()
		}()
		<-done
	}
	for range 20 {
		call(func() {
			_ = lim.Do(t.Context(), func(context.Context) error { time.Sleep(50 * time.Millisecond); return nil })
		})
		call(func() {
			if p, ok := lim.TryAcquire(t.Context()); ok {
				time.Sleep(50 * time.Millisecond)
				p.Done(errors.New("failed"))
			}
		})
		call(func() {
			if p, ok := lim.TryAcquire(t.Context()); ok {
				defer p.Release()
				time.Sleep(50 * time.Millisecond)
				p.Measure(weir.Success)
				time.Sleep(200 * time.Millisecond)
				_ = p.SetWeight(3)
			}
		})
		for range 6 { // some wait, and some are refused
			go call(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 70*time.Millisecond)
				defer cancel()
				_ = lim.Do(ctx, func(context.Context) error { time.Sleep(50 * time.Millisecond); return nil })
			})
		}
		time.Sleep(time.Second)
	}
	if acted.Load() == 0 {
		t.Error("it was never called")
	}
	balanced(t, lim)
}

// A breaker gets the outcome of each permission once, even if it panics then.
func TestBreakerHearsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard atomic.Int64
		b := hostileBreaker{func() {}, func() {
			if heard.Add(1) == 2 {
				panic("boom")
			}
		}}
		l := newLimiter(t, weir.Config{Initial: 1, Max: 1, Law: law.Fixed{}, Breaker: b, Queue: weir.Queue{Size: 1}})
		permit := hold(t, l, 1)[0]
		gone := make(chan bool)
		go func() {
			defer close(gone)
			defer func() { _ = recover() }()
			_, _ = l.Acquire(t.Context())
		}()
		synctest.Wait()
		time.Sleep(time.Millisecond)
		permit.Done(nil) // the first
		<-gone
		if n := heard.Load(); n != 2 {
			t.Errorf("heard %d times: want 2, of the permit and of the wait", n)
		}
		balanced(t, l)
	})
}

// A breaker gets the outcome of work even if the law calls runtime.Goexit.
func TestBreakerHearsThoughTheLawExits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard atomic.Int64
		l := newLimiter(t, weir.Config{
			MinSamples: 1, Law: breaking(runtime.Goexit),
			Breaker: hostileBreaker{func() {}, func() { heard.Add(1) }},
		})
		permits := hold(t, l, 2)
		permits[0].Done(nil)
		time.Sleep(2 * time.Second)
		gone := make(chan bool)
		go func() {
			defer close(gone)
			permits[1].Done(nil)
		}()
		<-gone
		permits[1].Done(nil)
		if n := heard.Load(); n != 2 {
			t.Errorf("heard of %d of 2", n)
		}
		balanced(t, l)
	})
}
