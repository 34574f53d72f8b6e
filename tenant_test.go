package weir_test

import (
	"context"
	"testing"

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
