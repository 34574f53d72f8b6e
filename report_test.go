package weir_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A hook that hangs holds up the call that it reports, and no other call.
func TestSlowHookBlocksOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		grow := func(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit + 1)} }
		l := newLimiter(t, weir.Config{
			Max: 3, Initial: 1, Law: script(grow), MinSamples: 1, Queue: weir.Queue{Size: 2, Timeout: time.Minute},
			OnEvent: func(weir.Event) { <-release },
		})
		held := hold(t, l, 2) // the law begins with one more
		first, second, refused := ask(t.Context(), l, 1), ask(t.Context(), l, 1), ask(t.Context(), l, 1)
		waits(t, refused) // in its hook
		time.Sleep(time.Second)
		done := make(chan struct{})
		go func() { held[0].Done(nil); close(done) }() // the limit rises, and two slots are free
		admitted(t, first)
		admitted(t, second)
		select {
		case <-done:
			t.Error("the hook was not called")
		default:
		}
		close(release)
		<-done
		if a := now(t, refused); !errors.Is(a.Err, weir.ErrQueueFull) {
			t.Error(a.Err)
		}
	})
}

// A hook that an update brings gets no refusal that was decided before.
func TestHookGetsNoEarlierEvents(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the waiter goes on after the update
	synctest.Test(t, func(t *testing.T) {
		c := weir.Config{Max: 1, Law: law.Fixed{}, Queue: weir.Queue{Size: 9}}
		l := newLimiter(t, c)
		hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		var j limittest.Journal
		c.OnEvent = j.Note
		l.Close()
		update(t, l, c)
		if a := now(t, waiting); !errors.Is(a.Err, weir.ErrClosed) {
			t.Error(a.Err)
		}
		_, _ = l.TryAcquire(t.Context())
		if j.Gapless(t); len(j.Events) != 1 {
			t.Errorf("%v, want only the refusal after the update", j.Events)
		}
	})
}

// A callback runs in the middle of an update, and another one interleaves.
func TestHooksSeeWholeUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Max: 100, Initial: 50})
		var seen []weir.Event
		c := weir.Config{Max: 30}
		c.OnEvent = func(e weir.Event) {
			seen = append(seen, e)
			if s := l.Snapshot(); s.Limit != 30 || s.Max != 30 {
				t.Errorf("limit %d and maximum %d within the update to 30", s.Limit, s.Max)
			}
			c.Max, c.OnEvent = 10, func(e weir.Event) { seen = append(seen, e) }
			if err := l.Update(c); err != nil {
				t.Error(err)
			}
		}
		update(t, l, c)
		var got []int
		for _, e := range seen {
			got = append(got, e.Change.From, e.Change.To, int(e.Seq))
		}
		if want := []int{50, 30, 1, 30, 10, 2}; !slices.Equal(got, want) {
			t.Errorf("from, to and number of the events: %v: want %v", got, want)
		}
	})
}

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
		_, _ = lim.String(), lim.History()
		_ = lim.Update(config)
		_, _ = lim.AcquireN(t.Context(), 500)
		if p, err := lim.TryAcquire(t.Context()); err == nil {
			p.Done(nil)
		}
	})
	lim = newLimiter(t, config)
	for range 20 {
		unwind(func() {
			_ = lim.Do(t.Context(), func(context.Context) error { time.Sleep(50 * time.Millisecond); return nil })
		})
		unwind(func() {
			if p, err := lim.TryAcquire(t.Context()); err == nil {
				time.Sleep(50 * time.Millisecond)
				p.Done(errors.New("failed"))
			}
		})
		unwind(func() {
			if p, err := lim.TryAcquire(t.Context()); err == nil {
				defer p.Release()
				time.Sleep(50 * time.Millisecond)
				p.Measure(weir.Success)
				time.Sleep(200 * time.Millisecond)
				_ = p.SetWeight(3)
			}
		})
		for range 6 { // some wait, and some are refused
			go unwind(func() {
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

// Work that would time out before the limit moves, and work that is too heavy after that, have
// events with numbers and reasons of their own.
func TestShadowReportsReasonsAroundAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j limittest.Journal
		l := newLimiter(t, weir.Config{
			Initial: 5, Max: 10, Interval: time.Second, Window: time.Second,
			Law: script(func(w law.Window) law.Decision {
				if w.Elapsed > 0 {
					return law.Decision{Limit: 2, Reason: law.Reason{Code: law.Pinned}}
				}
				return law.Decision{Limit: 5}
			}),
			Queue: weir.Queue{Size: 5, Timeout: time.Second}, Shadow: true, OnEvent: j.Note,
		})
		hold(t, l, 5)
		for range 2 {
			must.Have(l.AcquireN(t.Context(), 3))(t)
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
		setCap(t, l, 10) // the first time out at 1 s, and the limit falls at 1.2 s
		j.Gapless(t)
		would := j.Of(weir.WouldRefuse)
		if len(would) != 2 || would[0].Seq != 1 || would[0].Reason != weir.ReasonQueueTimeout ||
			would[1].Seq != 3 || would[1].Reason != weir.ReasonTooHeavy {
			t.Errorf("%+v: want a timeout before the change, and work that is too heavy after it", would)
		}
	})
}

func TestShadowDoesNotOverflow(t *testing.T) {
	l := newLimiter(t, weir.Config{Initial: 1, Law: law.Fixed{}, Shadow: true})
	const heavy = 1_000_000_000
	fit := min(3, math.MaxInt/heavy) // counts of 64 bits have room for more than 32 bits
	for range fit {
		must.Have(l.AcquireN(t.Context(), heavy))(t)
	}
	if n := l.Snapshot().InFlight; n != fit*heavy {
		t.Errorf("%d in flight", n)
	}
}

// A law that panics, or that calls runtime.Goexit, does so in the call that closed the window. The
// limiter continues with its limit, no slot is lost, and the breaker gets the outcome of the work.
func TestLawThatDoesNotReturn(t *testing.T) {
	for name, call := range map[string]func(l *weir.Limiter, p weir.Permit){
		"at an acquire": func(l *weir.Limiter, _ weir.Permit) { _, _ = l.TryAcquire(context.Background()) },
		"at a done":     func(_ *weir.Limiter, p weir.Permit) { p.Done(nil) },
		"at a wait":     func(l *weir.Limiter, _ weir.Permit) { _, _ = l.Acquire(context.Background()) },
	} {
		for how, end := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
			t.Run(how+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := &breaker{}
					l := newLimiter(t, weir.Config{
						MinSamples: 1, Max: 2, Initial: 2, Queue: weir.Queue{Size: 1}, Law: breaking(end), Breaker: b,
					})
					permits := hold(t, l, 2)
					permits[0].Done(nil)
					time.Sleep(2 * time.Second)
					if _, returned := unwind(func() { call(l, permits[1]) }); returned {
						t.Error("the call returned")
					}
					permits[1].Done(nil) // again, if that was the call
					if len(b.told) != b.allowed {
						t.Errorf("the breaker got %v of %d outcomes", b.told, b.allowed)
					}
					if s := l.Snapshot(); s.Limit != 2 {
						t.Errorf("limit %d, want 2 as before", s.Limit)
					}
					balanced(t, l)
				})
			})
		}
	}
}

// A waiter whose call does not return, because of a law or a hook, takes no slot later.
func TestWaiterThatDoesNotReturn(t *testing.T) {
	exits := func(e weir.Event) {
		if e.Kind == weir.LimitChanged {
			runtime.Goexit()
		}
	}
	falls := script(func(w law.Window) law.Decision {
		return law.Decision{Limit: 5 - min(1, w.Elapsed.Seconds())}
	})
	for name, c := range map[string]weir.Config{
		"the law panics": {Law: breaking(func() { panic("boom") })},
		"the hook exits": {Law: falls, OnEvent: exits},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.Initial, c.MinSamples, c.Queue = 5, 1, weir.Queue{Size: 5, Timeout: time.Hour}
				l := newLimiter(t, c)
				inside.SetPace(l, admit.Pace{Rate: 0.5})
				hold(t, l, 1)[0].Done(nil)
				gone := make(chan bool)
				go func() {
					_, returned := unwind(func() { _, _ = l.Acquire(t.Context()) })
					gone <- returned
				}()
				synctest.Wait()
				inside.SetPace(l, admit.Pace{Rate: 0.1}) // it rechecks too early: the window is due, and it has to keep waiting
				if <-gone {
					t.Error("the waiter returned")
				}
				inside.SetPace(l, admit.Pace{})
				balanced(t, l)
			})
		})
	}
}
