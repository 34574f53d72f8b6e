package weir_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A breaker is a weir.Breaker moved by hand that records its outcomes.
type breaker struct {
	mu      sync.Mutex
	open    bool
	allowed int
	told    []weir.Outcome
}

func (b *breaker) Allow(context.Context) (func(weir.Outcome), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		return nil, errors.New("open")
	}
	b.allowed++
	return func(o weir.Outcome) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.told = append(b.told, o)
	}, nil
}

func (b *breaker) set(open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = open
}

// heard fails the test unless the breaker got exactly these outcomes, one for each piece of
// work that it allowed.
func (b *breaker) heard(t testing.TB, want ...weir.Outcome) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.told, want) || b.allowed != len(want) {
		t.Errorf("allowed %d, told %v: want %v", b.allowed, b.told, want)
	}
}

// TestBreakerIsToldOfWorkThatNeverRan: otherwise the probes of a half-open breaker would run
// out.
func TestBreakerIsToldOfWorkThatNeverRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{}
		l := newLimiter(t, weir.Config{
			Max: 1, Law: law.Fixed{}, Breaker: b, Queue: weir.Queue{Size: 1, Timeout: time.Second},
		})
		held := hold(t, l, 1)
		ctx, cancel := context.WithCancel(t.Context())
		left := ask(ctx, l, 1)
		if _, err := l.Acquire(t.Context()); !errors.Is(err, weir.ErrQueueFull) {
			t.Error(err)
		}
		if _, err := l.TryAcquire(t.Context()); err == nil {
			t.Error("admitted")
		}
		cancel()
		now(t, left)
		held[0].Done(nil)
		hold(t, l, 1)[0].Finish(99) // counts as Ignore
		b.heard(t, weir.Ignore, weir.Ignore, weir.Ignore, weir.Success, weir.Ignore)
		balanced(t, l)
	})
}

func TestBreakerInShadowIsOnlyReported(t *testing.T) {
	var j limittest.Journal
	b := &breaker{open: true}
	l := newLimiter(t, weir.Config{Shadow: true, Breaker: b, OnEvent: j.Note})
	must.Do(t, l.Do(t.Context(), func(context.Context) error { return nil }))
	if s := l.Snapshot(); s.WouldRefuse != 1 || s.RefusedTotal() != 0 || s.Admitted != 1 {
		t.Errorf("%v", l)
	}
	if e := j.Of(weir.WouldRefuse); len(e) != 1 || e[0].Reason != weir.ReasonBreakerOpen {
		t.Errorf("%v", j.Events)
	}
}

// perTenant is a breaker that is open for the given tenants.
type perTenant map[string]bool

func (b perTenant) Allow(ctx context.Context) (func(weir.Outcome), error) {
	if b[weir.TenantFrom(ctx)] {
		return nil, errors.New("open")
	}
	return nil, nil
}

// A breaker gets the context of the work, also when it is asked again after the queue.
func TestBreakerSeesTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := perTenant{"broken": true}
		l := newLimiter(t, weir.Config{Max: 1, Law: law.Fixed{}, Breaker: b, Queue: weir.Queue{Size: 5}})
		if _, err := l.Acquire(weir.WithTenant(t.Context(), "broken")); !errors.Is(err, weir.ErrBreakerOpen) {
			t.Error(err)
		}
		if _, err := l.TryAcquire(weir.WithTenant(t.Context(), "broken")); err == nil {
			t.Error("TryAcquire did not ask the breaker of its tenant")
		}
		held := hold(t, l, 1)
		waiting := ask(weir.WithTenant(t.Context(), "breaks"), l, 1)
		waits(t, waiting)
		b["breaks"] = true
		time.Sleep(time.Second / 2)
		held[0].Done(nil)
		if a := now(t, waiting); !errors.Is(a.Err, weir.ErrBreakerOpen) {
			t.Errorf("after the queue: %v", a.Err)
		}
		balanced(t, l)
	})
}
