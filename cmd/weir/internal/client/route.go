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

// Place returns the context of a request of the route, with its priority, its tenant and its
// deadline. A trusted client may set another priority, and a timeout, as with [weirhttp.Trust].
func (id *Identity) Place(r *http.Request, route *config.Route) (context.Context, context.CancelFunc) {
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if tenant := id.tenant(r, route.Tenant); tenant != "" {
		ctx = weir.WithTenant(ctx, tenant)
	}
	if priority, _ := trust.ParsePriority(route.Priority); priority != weir.PriorityNormal {
		ctx = weir.WithPriority(ctx, priority)
	}
	if !id.Trusted {
		return ctx, cancel
	}
	if left, ok := headers.Timeout(r.Header[weirhttp.TimeoutHeader]); ok {
		ctx, cancel = context.WithTimeout(ctx, left)
	}
	return trust.Told(ctx, r.Header[weirhttp.PriorityHeader], r.Header[weirhttp.AttemptHeader]), cancel
}

// tenant returns the tenant of a request by the kind that its route names, or an empty string. A
// certificate counts by its verified subject, in its encoding, because different subjects could
// have the same text.
func (id *Identity) tenant(r *http.Request, kind string) string {
	name, isHeader := strings.CutPrefix(kind, "header:")
	switch {
	case kind == "address":
		return networkOf(id.Address)
	case kind == "certificate" && id.verified(r):
		return string(r.TLS.PeerCertificates[0].RawSubject)
	case isHeader && id.Trusted:
		return single(r.Header.Values(name))
	}
	return ""
}

// networkOf returns the tenant at an address. For IPv6 it is the /64 network, because one client
// can have all addresses of the network.
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
