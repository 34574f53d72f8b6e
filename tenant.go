package weir

import (
	"context"
	"hash/maphash"
)

// tenant is the value in a context. The core only sees the hash.
type tenant struct {
	id   string
	hash uint16
}

type tenantKey struct{}

// tenantSeed keeps tenants from choosing names with the same hash.
var tenantSeed = maphash.MakeSeed()

// WithTenant returns a context whose work belongs to the tenant of that name: a customer, a user,
// an address, or any other party that must not take the others' share. The tenant matters only to a
// limiter whose [Queue].Tenants is set. All work without a tenant belongs to the tenant with the
// empty id. A nil ctx counts as context.Background.
func WithTenant(ctx context.Context, id string) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	t := tenant{id: id}
	if id != "" {
		t.hash = uint16(maphash.String(tenantSeed, id) >> 48)
	}
	return context.WithValue(ctx, tenantKey{}, t)
}

// TenantFrom returns the tenant that ctx carries, empty if it carries none or is nil.
func TenantFrom(ctx context.Context) string {
	if ctx == nil {
		return ""
	}
	t, _ := ctx.Value(tenantKey{}).(tenant)
	return t.id
}

func tenantHash(ctx context.Context) uint16 {
	t, _ := ctx.Value(tenantKey{}).(tenant)
	return t.hash
}
