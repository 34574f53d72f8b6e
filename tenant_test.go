package weir_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

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
