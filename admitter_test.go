package weir_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// wrapped has no method but Acquire.
type wrapped struct{ weir.Admitter }

func TestAdmitterWithoutMoreMethods(t *testing.T) {
	for name, wrap := range map[string]func(*weir.Limiter) weir.Admitter{
		"a limiter":     func(l *weir.Limiter) weir.Admitter { return l },
		"Acquire alone": func(l *weir.Limiter) weir.Admitter { return wrapped{l} },
	} {
		t.Run(name, func(t *testing.T) {
			l := fixed(t, 5, weir.Queue{})
			a := wrap(l)
			permit, err := weir.AcquireN(t.Context(), a, 4)
			if err != nil || l.Snapshot().InFlight != 4 {
				t.Errorf("%d in flight, want the weight of 4: %v", l.Snapshot().InFlight, err)
			}
			if _, err := weir.AcquireN(t.Context(), a, 0); !errors.Is(err, weir.ErrConfig) {
				t.Errorf("a weight of 0: %v", err)
			}
			if err := weir.Full(t.Context(), a); err != nil {
				t.Errorf("full with a slot free: %v", err)
			}
			last := hold(t, l, 1)
			if err := weir.Full(t.Context(), a); (err != nil) != (name == "a limiter") {
				t.Errorf("without a slot: %v", err)
			}
			if _, err := weir.AcquireN(t.Context(), a, 2); !errors.Is(err, weir.ErrLimitReached) {
				t.Errorf("without a slot: %v", err)
			}
			last[0].Release()
			permit.Release()
			balanced(t, l)
		})
	}
}

// late takes a second to hand out its permits.
type late struct{ weir.Admitter }

func (l late) Acquire(ctx context.Context) (weir.Permit, error) {
	defer time.Sleep(time.Second)
	return l.Admitter.Acquire(ctx)
}

// A permit that gets its weight later is not lost if a hook panics.
func TestHeavyPermitOfAHookThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Law:        script(func(w law.Window) law.Decision { return law.Decision{Limit: float64(w.Limit + 1)} }),
			MinSamples: 1,
			OnEvent:    func(weir.Event) { panic("a hook") },
		})
		hold(t, l, 1)[0].Finish(weir.Success)
		if recovered, _ := limittest.Unwind(func() { _, _ = weir.AcquireN(t.Context(), late{l}, 4) }); recovered == nil {
			t.Error("the panic was swallowed")
		}
		balanced(t, l)
	})
}

// The settings of the limiter come with its permit.
func TestDoOfAnAdmitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Timeout: time.Second})
		_, err := weir.Do(t.Context(), wrapped{l}, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		if s := l.Snapshot(); !errors.Is(err, weir.ErrExecutionTimeout) || s.TimedOut != 1 {
			t.Errorf("%v, %d timed out", err, s.TimedOut)
		}
		balanced(t, l)
	})
}

// unlimited admits, and limits nothing.
type unlimited struct{}

func (unlimited) Acquire(context.Context) (weir.Permit, error) { return weir.Permit{}, nil }

func TestDoWithAPermitOfNoLimiter(t *testing.T) {
	got, err := weir.Do(t.Context(), unlimited{}, func(context.Context) (int, error) { return 1, nil })
	if got != 1 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
}

var _ weir.Admitter = (*weir.Limiter)(nil)

// A refusal by Full equals one by Acquire: the same error, counted and reported once, and
// seen by the law.
func TestFullRefusesAsAcquireDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events limittest.Journal
		var windows []law.Window
		l := newLimiter(t, weir.Config{
			Name: "search", Max: 1, Law: watching(&windows), Interval: time.Second, MinSamples: 1,
			Queue: weir.Queue{Size: 1, Timeout: time.Hour}, OnEvent: events.Note,
		})
		permit := hold(t, l, 1)[0]
		time.Sleep(100 * time.Millisecond)
		permit.Done(nil)
		permit = hold(t, l, 1)[0]
		waiting := ask(t.Context(), l, 1)
		synctest.Wait()
		asked := l.Full(t.Context())
		_, acquired := l.Acquire(t.Context())
		var a, b *weir.RefusedError
		if !errors.As(asked, &a) || !errors.As(acquired, &b) || *a != *b || a.Reason != weir.ReasonQueueFull ||
			a.RetryAfter == 0 {
			t.Errorf("Full: %+v, Acquire: %+v", a, b)
		}
		if s := l.Snapshot(); s.Refused[weir.ReasonQueueFull] != 2 || s.InFlight != 1 || s.Queued != 1 {
			t.Errorf("%+v", s)
		}
		if refused := events.Of(weir.Refused); len(refused) != 2 || refused[0].RetryAfter != a.RetryAfter {
			t.Errorf("events %v", refused)
		}
		events.Gapless(t)
		time.Sleep(time.Second)
		permit.Done(nil)
		admitted(t, waiting).Done(nil)
		if w := windows[len(windows)-1]; w.Refused != 2 {
			t.Errorf("the law heard of %d refusals", w.Refused)
		}
	})
}

// Full reads the same values of a context as Acquire.
func TestFullOfAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 2, Timeout: time.Hour, Tenants: 64})
		permit := hold(t, l, 1)[0]
		time.Sleep(time.Second)
		permit.Done(nil)
		permit = hold(t, l, 1)[0]
		time.Sleep(time.Second)
		acme := weir.WithTenant(t.Context(), "acme")
		waiting := []<-chan answer{ask(acme, l, 1), ask(acme, l, 1)}
		synctest.Wait()

		soon, cancel := context.WithTimeout(weir.WithPriority(t.Context(), weir.PriorityHigh), 10*time.Millisecond)
		defer cancel()
		if err := l.Full(acme); !errors.Is(err, weir.ErrRefused) {
			t.Errorf("the tenant that has most: %v", err)
		}
		if err := l.Full(weir.WithPriority(acme, weir.PriorityHigh)); err != nil {
			t.Errorf("a higher priority: %v", err)
		}
		if err := l.Full(soon); !errors.Is(err, weir.ErrDeadline) {
			t.Errorf("a deadline: %v", err)
		}
		free := 0
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} { // one may share another's bucket, but not all
			if l.Full(weir.WithTenant(t.Context(), name)) == nil {
				free++
			}
		}
		if free == 0 {
			t.Error("all tenants are refused, also those that have nothing")
		}

		why := errors.New("gone")
		ended, end := context.WithCancelCause(t.Context())
		end(why)
		if err := l.Full(ended); !errors.Is(err, why) || errors.Is(err, weir.ErrRefused) {
			t.Errorf("after the end: %v", err)
		}
		if n := l.Snapshot().Cancelled; n != 1 {
			t.Errorf("%d cancelled", n)
		}
		l.Close()
		for _, c := range waiting {
			if a := now(t, c); !errors.Is(a.Err, weir.ErrClosed) {
				t.Error(a.Err)
			}
		}
		if err := l.Full(t.Context()); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		permit.Done(nil)
	})
}

func TestShadowIsNeverFull(t *testing.T) {
	l := newLimiter(t, weir.Config{Max: 1, Shadow: true})
	for range 3 {
		must.Do(t, l.Full(t.Context()))
		hold(t, l, 1)
	}
	if s := l.Snapshot(); s.WouldRefuse != 2 {
		t.Errorf("%d would be refused: Full is none of them", s.WouldRefuse)
	}
}

// A breaker is asked, and gets Ignore.
func TestFullAsksTheBreaker(t *testing.T) {
	b := &breaker{}
	l := newLimiter(t, weir.Config{Max: 1, Breaker: b})
	for range 2 {
		must.Do(t, l.Full(t.Context()))
	}
	b.heard(t, weir.Ignore, weir.Ignore)
	b.set(true)
	if err := l.Full(t.Context()); !errors.Is(err, weir.ErrBreakerOpen) {
		t.Error(err)
	}
}
