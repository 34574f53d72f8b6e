package client

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/certstest"
	"github.com/weir-go/weir/internal/must"
)

// placedBy returns the context of a request within its route.
func placedBy(t *testing.T, route config.Route, r *http.Request) context.Context {
	t.Helper()
	ctx, cancel := Identify(r, inside(t), nil).Place(r, &route)
	t.Cleanup(cancel)
	return ctx
}

func TestPriority(t *testing.T) {
	for what, c := range map[string]struct {
		route  string
		remote string
		header []string
		want   weir.Priority
	}{
		"none":                {"", "192.0.2.1:9", nil, weir.PriorityNormal},
		"the route's":         {"low", "192.0.2.1:9", nil, weir.PriorityLow},
		"a stranger's":        {"low", "192.0.2.1:9", []string{"Weir-Priority", "critical"}, weir.PriorityLow},
		"a trusted one":       {"low", "10.0.0.1:9", []string{"Weir-Priority", "critical"}, weir.PriorityCritical},
		"a trusted retry":     {"high", "10.0.0.1:9", []string{"Weir-Attempt", "2"}, weir.PriorityNormal},
		"a stranger's retry":  {"high", "192.0.2.1:9", []string{"Weir-Attempt", "2"}, weir.PriorityHigh},
		"a trusted one, none": {"high", "10.0.0.1:9", nil, weir.PriorityHigh},
	} {
		if got := weir.PriorityFrom(placedBy(t, config.Route{Priority: c.route}, from(c.remote, c.header...))); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	for remote, believed := range map[string]bool{"192.0.2.1:9": false, "10.0.0.1:9": true} {
		if _, ends := placedBy(t, config.Route{}, from(remote, "Weir-Timeout-Ms", "50")).Deadline(); ends != believed {
			t.Errorf("%s: a deadline: %v", remote, ends)
		}
	}
	seen, _ := told(t, nil, nil, config.Route{Priority: "low"}, "Weir-Priority", "critical")
	if got := seen.Values("Weir-Priority"); strings.Join(got, "|") != "low" {
		t.Errorf("the upstream hears of %q, want the route's", got)
	}
}

func TestTenant(t *testing.T) {
	for what, c := range map[string]struct {
		tenant string
		remote string
		header []string
		want   string
	}{
		"none":                     {"", "192.0.2.1:9", nil, ""},
		"address":                  {"address", "192.0.2.1:9", nil, "192.0.2.1"},
		"address behind a proxy":   {"address", "10.0.0.1:9", []string{"X-Forwarded-For", "198.51.100.7"}, "198.51.100.7"},
		"IPv6":                     {"address", "[2001:db8::1]:9", nil, "2001:db8::/64"},
		"Unix socket":              {"address", "@", nil, ""},
		"header of a trusted one":  {"header:x-account", "10.0.0.1:9", []string{"X-Account", "acme"}, "acme"},
		"header of a stranger":     {"header:x-account", "192.0.2.1:9", []string{"X-Account", "acme"}, ""},
		"two headers":              {"header:X-Account", "10.0.0.1:9", []string{"X-Account", "acme", "X-Account", "b"}, ""},
		"certificate, without TLS": {"certificate", "192.0.2.1:9", nil, ""},
	} {
		if got := weir.TenantFrom(placedBy(t, config.Route{Tenant: c.tenant}, from(c.remote, c.header...))); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

func TestClientCertificates(t *testing.T) {
	authority := certstest.New(t)
	own, authorities := authority.Pair("billing"), authority.Pool()
	want := ":" + base64.StdEncoding.EncodeToString(own.Leaf.Raw) + ":"

	for what, c := range map[string]struct {
		auth    tls.ClientAuthType
		none    bool
		trusted bool
		header  []string
		want    string
		tenant  bool
	}{
		"verified":                     {auth: tls.RequireAndVerifyClientCert, want: want, tenant: true},
		"verified, and spoofed":        {auth: tls.RequireAndVerifyClientCert, header: []string{"Client-Cert", ":AAAA:"}, want: want, tenant: true},
		"not verified":                 {auth: tls.RequireAnyClientCert, header: []string{"Client-Cert", ":AAAA:"}},
		"none":                         {auth: tls.VerifyClientCertIfGiven, none: true, header: []string{"Client-Cert", ":AAAA:"}},
		"trusted, speaks for itself":   {auth: tls.RequireAndVerifyClientCert, trusted: true, want: want, tenant: true},
		"trusted, speaks for a client": {auth: tls.RequireAndVerifyClientCert, trusted: true, header: []string{"X-Forwarded-For", "198.51.100.7"}},
		"trusted, names its address":   {auth: tls.RequireAndVerifyClientCert, trusted: true, header: []string{"X-Real-IP", "198.51.100.7"}},
		"trusted, names no address":    {auth: tls.RequireAndVerifyClientCert, trusted: true, header: []string{"X-Real-IP", "unknown"}},
		"trusted, certificate only":    {auth: tls.RequireAndVerifyClientCert, trusted: true, header: []string{"Client-Cert", ":AAAA:"}, want: ":AAAA:"},
		"trusted, names a certificate": {auth: tls.RequireAndVerifyClientCert, trusted: true, header: []string{"X-Forwarded-For", "198.51.100.7", "Client-Cert", ":AAAA:"}, want: ":AAAA:"},
	} {
		peers, tenant, seen := inside(t), "", http.Header(nil)
		if !c.trusted {
			peers = nil
		}
		route := config.Route{Tenant: "certificate"}
		proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			id := Identify(r, peers, nil)
			ctx, cancel := id.Place(r, &route)
			defer cancel()
			tenant, seen = weir.TenantFrom(ctx), forwardedBy(t, r, id, route)
			if id.Proto != "https" {
				t.Errorf("%s: %s", what, id.Proto)
			}
		}))
		proxy.TLS = &tls.Config{ClientAuth: c.auth, ClientCAs: authorities}
		proxy.StartTLS()
		transport := proxy.Client().Transport.(*http.Transport)
		if !c.none {
			transport.TLSClientConfig.Certificates = []tls.Certificate{own}
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy.URL, nil)
		add(r.Header, c.header)
		w := must.Have(proxy.Client().Do(r))(t)
		w.Body.Close()
		proxy.Close()
		if got := strings.Join(seen.Values("Client-Cert"), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
		if (tenant == string(own.Leaf.RawSubject)) != c.tenant {
			t.Errorf("%s: tenant %q", what, tenant)
		}
		if got := seen.Get("X-Forwarded-Proto"); got != "https" {
			t.Errorf("%s: %q", what, got)
		}
	}
}
