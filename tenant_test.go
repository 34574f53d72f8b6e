package weir_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// A tenant with thirty callers that never stop takes only the slots that three others do not
// need. Without fairness, those are refused as often as the tenant.
func TestNoisyTenantTakesNobodysShare(t *testing.T) {
	for _, d := range []weir.Discipline{weir.FIFO, weir.Adaptive} {
		for _, tenants := range []int{0, 1024} {
			t.Run(fmt.Sprintf("%v/%d", d, tenants), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := fixed(t, 10, weir.Queue{Size: 10, Timeout: time.Minute, Discipline: d, Tenants: tenants})
					noisy, quiet := &caller{name: "noisy"}, []*caller{{name: "a"}, {name: "b"}, {name: "c"}}
					until := time.Now().Add(2 * time.Minute)
					for range 30 {
						go noisy.call(t, l, until, 0)
					}
					for _, c := range quiet {
						go c.call(t, l, until, 100*time.Millisecond)
					}
					time.Sleep(3 * time.Minute)
					synctest.Wait()
					balanced(t, l)
					if n := l.Snapshot().Admitted; n < 11900 {
						t.Errorf("%d were served, want 12000: slots stood idle", n)
					}
					for _, c := range quiet {
						// Of 600 a few are lost; more if it shares a bucket with the noisy
						// one, for ten seconds.
						served, refused := c.served.Load(), c.refused.Load()
						if fair := served > 450; fair != (tenants > 0) {
							t.Errorf("%s: %d served and %d refused", c.name, served, refused)
						}
					}
				})
			})
		}
	}
}

// A caller does one piece of work after another.
type caller struct {
	name            string
	served, refused atomic.Int64
}

func (c *caller) call(t *testing.T, l *weir.Limiter, until time.Time, pause time.Duration) {
	ctx := weir.WithTenant(t.Context(), c.name)
	for time.Now().Before(until) {
		permit, err := l.Acquire(ctx)
		if err != nil {
			c.refused.Add(1)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		c.served.Add(1)
		time.Sleep(100 * time.Millisecond)
		permit.Done(nil)
		time.Sleep(pause)
	}
}

func TestTenantIsToldThatItIsOverItsShare(t *testing.T) {
	for try := range 10 { // they may share a bucket, but not time and again
		met := false
		synctest.Test(t, func(t *testing.T) {
			l := fixed(t, 2, weir.Queue{Size: 2, Timeout: time.Minute, Tenants: 1024})
			noisy := weir.WithTenant(t.Context(), fmt.Sprint("noisy", try))
			permits := []weir.Permit{admitted(t, ask(noisy, l, 1)), admitted(t, ask(noisy, l, 1))}
			first, second := ask(noisy, l, 1), ask(noisy, l, 1)
			quiet := ask(weir.WithTenant(t.Context(), "quiet"), l, 1)
			defer func() {
				for _, p := range permits {
					p.Release()
				}
				l.Close()
			}()
			if met = len(quiet) > 0; met {
				return
			}
			waits(t, first)
			err := now(t, second).Err
			var refused *weir.RefusedError
			if !errors.Is(err, weir.ErrTenantShare) || !errors.Is(err, weir.ErrRefused) ||
				errors.Is(err, weir.ErrQueueFull) ||
				!errors.As(err, &refused) || refused.Reason != weir.ReasonTenantShare ||
				refused.Reason.String() != "tenant over its share" {
				t.Errorf("%v", err)
			}
			if n := l.Snapshot().Refused[weir.ReasonTenantShare]; n != 1 {
				t.Errorf("counted %d times", n)
			}
			permits[0].Release()
			permits[0] = admitted(t, quiet)
		})
		if !met {
			return
		}
	}
	t.Error("two tenants always meet in one of 1024 buckets")
}

func TestTenantInTheContext(t *testing.T) {
	if id := weir.TenantFrom(t.Context()); id != "" {
		t.Errorf("%q: want none", id)
	}
	ctx := weir.WithTenant(t.Context(), "acme")
	if id := weir.TenantFrom(weir.WithTenant(ctx, "")); id != "" {
		t.Errorf("%q: want the inner one", id)
	}
	var none context.Context
	if id := weir.TenantFrom(weir.WithTenant(none, "acme")); id != "acme" {
		t.Errorf("%q", id)
	}
}

// Work is of the tenant of its context, however it came in, and work without a tenant is of the
// one with the empty name: a free slot goes to the other tenant, which has one slot and not three.
func TestWorkCountsForItsTenant(t *testing.T) {
	for name, c := range map[string]struct {
		runs, waits func(ctx context.Context, id string) context.Context
	}{
		"named":   {weir.WithTenant, weir.WithTenant},
		"unnamed": {func(ctx context.Context, _ string) context.Context { return ctx }, func(ctx context.Context, _ string) context.Context { return weir.WithTenant(ctx, "") }},
	} {
		served := false
		for try := range 10 { // they may share a bucket, but not time and again
			synctest.Test(t, func(t *testing.T) {
				l := fixed(t, 4, weir.Queue{Size: 4, Timeout: time.Minute, Tenants: 1024})
				id, other := fmt.Sprint("busy", try), weir.WithTenant(t.Context(), fmt.Sprint("other", try))
				held := []weir.Permit{admitted(t, ask(other, l, 1))}
				for range 3 {
					permit, _ := l.TryAcquire(c.runs(t.Context(), id))
					held = append(held, permit)
				}
				again, next := ask(c.waits(t.Context(), id), l, 1), ask(other, l, 1)
				held[3].Done(nil)
				synctest.Wait()
				served = served || len(next) > 0
				for _, permit := range held[:3] {
					permit.Done(nil)
				}
				admitted(t, again).Done(nil)
				admitted(t, next).Done(nil)
				balanced(t, l)
			})
		}
		if !served {
			t.Errorf("%s: the tenant that had more was served first", name)
		}
	}
}
