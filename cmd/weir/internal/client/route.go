package client

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/trust"
	"github.com/weir-go/weir/weirhttp"
)

// Prioritize returns a handler that runs next with the priority and the tenant of a route. A
// trusted client may set another priority and a timeout: see [weirhttp.Trust]. Call it within
// [New], and outside of the handler that takes a slot.
func Prioritize(next http.Handler, route config.Route) (http.Handler, error) {
	priority := weir.Normal
	if route.Priority != "" {
		var known bool
		if priority, known = trust.ParsePriority(route.Priority); !known {
			return nil, fmt.Errorf("priority is %q: want critical, high, normal or low", route.Priority)
		}
	}
	tenantOf, err := tenantBy(route.Tenant)
	if err != nil {
		return nil, err
	}
	next = weirhttp.Trust(next, func(r *http.Request) bool { return Of(r.Context()).Trusted })
	if priority == weir.Normal && tenantOf == nil {
		return next, nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(placed(r, priority, tenantOf)))
	}), nil
}

// placed is the context of a request with its place in the queue.
func placed(r *http.Request, priority weir.Priority, tenantOf func(*http.Request, *Identity) string) context.Context {
	ctx := r.Context()
	if tenantOf != nil {
		if tenant := tenantOf(r, Of(ctx)); tenant != "" {
			ctx = weir.WithTenant(ctx, tenant)
		}
	}
	if priority != weir.Normal {
		ctx = weir.WithPriority(ctx, priority)
	}
	return ctx
}

// tenantBy returns the function that names the tenant of a request, nil for a route without
// tenants.
func tenantBy(kind string) (func(*http.Request, *Identity) string, error) {
	name, isHeader := strings.CutPrefix(kind, "header:")
	switch {
	case kind == "":
		return nil, nil
	case kind == "address":
		return func(_ *http.Request, id *Identity) string { return networkOf(id.Address) }, nil
	case kind == "certificate":
		return subject, nil
	case isHeader && name != "":
		name = http.CanonicalHeaderKey(name)
		return func(r *http.Request, id *Identity) string {
			if !id.Trusted {
				return ""
			}
			return single(r.Header[name])
		}, nil
	}
	return nil, fmt.Errorf("tenant is %q: want address, certificate or header:NAME", kind)
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
