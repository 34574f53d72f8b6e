package weir_test

import (
	"context"
	"testing"

	"github.com/weir-go/weir"
)

func TestPriorityInTheContext(t *testing.T) {
	if p := weir.PriorityFrom(t.Context()); p != weir.PriorityNormal {
		t.Errorf("%v: want normal by default", p)
	}
	names := map[weir.Priority]string{
		weir.PriorityCritical: "critical", weir.PriorityHigh: "high", weir.PriorityNormal: "normal", weir.PriorityLow: "low",
		-128: "critical", 127: "low",
	}
	for p, name := range names {
		if got := weir.PriorityFrom(weir.WithPriority(t.Context(), p)); got != p || p.String() != name {
			t.Errorf("%d: got %d, named %q: want %q", p, got, p, name)
		}
	}
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
