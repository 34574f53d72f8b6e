package weir_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// Slots taken without waiting count for their tenant: the free slot goes to the other tenant,
// which has one and not three.
func TestTryAcquireCountsForItsTenant(t *testing.T) {
	for try := range 10 { // they may share a bucket, but not time and again
		served := false
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t, weir.Config{
				Initial: 4, Law: law.Fixed{},
				Queue: weir.Queue{Size: 4, Timeout: time.Minute, Tenants: 1024},
			})
			busy, other := weir.WithTenant(t.Context(), fmt.Sprint("busy", try)), weir.WithTenant(t.Context(), "other")
			held := []weir.Permit{admitted(t, ask(other, l, 1))}
			for range 3 {
				permit, _ := l.TryAcquire(busy)
				held = append(held, permit)
			}
			again, next := ask(busy, l, 1), ask(other, l, 1)
			held[3].Done(nil)
			synctest.Wait()
			served = len(next) > 0
			for _, permit := range held[:3] {
				permit.Done(nil)
			}
			admitted(t, again).Done(nil)
			admitted(t, next).Done(nil)
			balanced(t, l)
		})
		if served {
			return
		}
	}
	t.Error("the tenant that had more was served first")
}

func TestTryAcquireLeavesAnExemplar(t *testing.T) {
	for name, b := range map[string]weir.Breaker{"plain": nil, "behind a breaker": allowing(func(weir.Outcome) {})} {
		l := newLimiter(t, weir.Config{Histograms: true, Exemplar: traceOf, Breaker: b})
		permit, ok := l.TryAcquire(traced("request 7"))
		permit.Done(nil)
		if e := l.Snapshot().Latencies.Exemplars; !ok || len(e) != 1 || e[0].Label != "request 7" {
			t.Errorf("%s: %v, want that of the request", name, e)
		}
	}
}

func TestTryAcquireGivesBackWhatAnExemplarLost(t *testing.T) {
	l := newLimiter(t, weir.Config{
		Max: 1, Histograms: true, Exemplar: func(context.Context) string { panic("no label") },
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not go on")
			}
		}()
		_, _ = l.TryAcquire(t.Context())
	}()
	balanced(t, l)
}

// allowedFor is a breaker that records the work it was asked about.
type allowedFor []string

func (a *allowedFor) Allow(ctx context.Context) (func(weir.Outcome), error) {
	*a = append(*a, weir.TenantFrom(ctx))
	return nil, nil
}

func TestTryAcquireAsksTheBreakerForItsWork(t *testing.T) {
	var asked allowedFor
	l := newLimiter(t, weir.Config{Breaker: &asked})
	permit, ok := l.TryAcquire(weir.WithTenant(t.Context(), "acme"))
	permit.Done(nil)
	if !ok || len(asked) != 1 || asked[0] != "acme" {
		t.Errorf("%v, asked for %q", ok, asked)
	}
}

// Work under a context that has ended is cancelled, as by Acquire, and not refused: neither
// the breaker nor the hook is called.
func TestTryAcquireUnderAContextThatEnded(t *testing.T) {
	var j journal
	var asked allowedFor
	l := newLimiter(t, weir.Config{Breaker: &asked, OnEvent: j.note})
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	if _, ok := l.TryAcquire(ended); ok {
		t.Error("admitted")
	}
	s := l.Snapshot()
	if s.Cancelled != 1 || s.RefusedTotal() != 0 || s.InFlight != 0 || len(asked) != 0 || len(j.of(weir.Refused)) != 0 {
		t.Errorf("%v, asked for %q: want one cancelled", l, asked)
	}
}

func TestTryAcquireWithoutAContext(t *testing.T) {
	var none context.Context
	l := newLimiter(t, weir.Config{
		Histograms: true, Exemplar: traceOf, Breaker: new(allowedFor),
		Queue: weir.Queue{Size: 1, Tenants: 8},
	})
	permit, ok := l.TryAcquire(none)
	permit.Done(nil)
	if !ok {
		t.Error("refused")
	}
	balanced(t, l)
}
