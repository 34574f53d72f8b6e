package client

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/headers"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirhttp"
)

// A Place is the place of a route's requests in the queue: their priority and their tenant.
type Place struct {
	priority weir.Priority
	tenant   func(*http.Request, *Identity) string // nil for a route without tenants
}

// NewPlace returns the place that a route of a complete configuration gives its requests.
func NewPlace(route config.Route) Place {
	priority, known := trust.ParsePriority(route.Priority)
	if !known { // none is set
		priority = weir.PriorityNormal
	}
	return Place{priority, tenantBy(route.Tenant)}
}

// Of returns the context of a request with its priority, its tenant and its deadline. A trusted
// client may set another priority, and a timeout, as with [weirhttp.Trust].
func (p Place) Of(r *http.Request, id *Identity) (context.Context, context.CancelFunc) {
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if p.tenant != nil {
		if tenant := p.tenant(r, id); tenant != "" {
			ctx = weir.WithTenant(ctx, tenant)
		}
	}
	if p.priority != weir.PriorityNormal {
		ctx = weir.WithPriority(ctx, p.priority)
	}
	if !id.Trusted {
		return ctx, cancel
	}
	if left, ok := headers.Timeout(r.Header[weirhttp.TimeoutHeader]); ok {
		ctx, cancel = context.WithTimeout(ctx, left)
	}
	return trust.Told(ctx, r.Header[weirhttp.PriorityHeader], r.Header[weirhttp.AttemptHeader]), cancel
}

// tenantBy returns the function that names the tenant of a request, nil for a route without
// tenants.
func tenantBy(kind string) func(*http.Request, *Identity) string {
	switch kind {
	case "":
		return nil
	case "address":
		return func(_ *http.Request, id *Identity) string { return networkOf(id.Address) }
	case "certificate":
		return subject
	}
	name := http.CanonicalHeaderKey(strings.TrimPrefix(kind, "header:"))
	return func(r *http.Request, id *Identity) string {
		if !id.Trusted {
			return ""
		}
		return single(r.Header[name])
	}
}

// networkOf returns the tenant at an address. For IPv6 it is the /64 network, because one
// client can have all its addresses.
func networkOf(addr netip.Addr) string {
	if addr.Is6() {
		network, _ := addr.Prefix(64)
		return network.String()
	}
	if !addr.IsValid() {
		return ""
	}
	return addr.String()
}

// subject returns the verified subject of the client's certificate in its encoding, because
// different subjects could have the same text.
func subject(r *http.Request, id *Identity) string {
	if !id.verified(r) {
		return ""
	}
	return string(r.TLS.PeerCertificates[0].RawSubject)
}
