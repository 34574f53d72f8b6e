package client

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/trust"
)

// told returns the header that the upstream receives for a header of a local client.
func told(t *testing.T, peers trust.Peers, tracer *spans.Tracer, route config.Route, header ...string) (seen http.Header, id *Identity) {
	t.Helper()
	r := from("127.0.0.1:9", header...)
	id = Identify(r, peers, tracer)
	return forwardedBy(t, r, id, route), id
}

const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// spoofed are claims that a client may make about itself.
var spoofed = []string{
	"X-Forwarded-For", "198.51.100.7", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "admin.example", "X-Forwarded-Port", "443",
	"Forwarded", "for=198.51.100.7", "X-Real-IP", "198.51.100.8", "X-Request-Id", "mine", "Client-Cert", ":AAAA:", "Client-Cert-Chain", ":AAAA:",
	"Weir-Priority", "critical", "Weir-Attempt", "2", "Weir-Timeout-Ms", "60000", "Weir-Refused", "queue full",
	"Traceparent", given, "Tracestate", "a=b",
}

func TestStrangersAreNotBelieved(t *testing.T) {
	for _, header := range [][]string{spoofed, append(spoofed[:len(spoofed):len(spoofed)], "Connection", "X-Forwarded-For, X-Real-IP, X-Request-Id")} {
		seen, id := told(t, nil, nil, config.Route{}, header...)
		for name, want := range map[string]string{
			"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "shop.example", "X-Real-IP": "127.0.0.1",
			"X-Forwarded-Port": "", "Forwarded": "", "Client-Cert": "", "Client-Cert-Chain": "",
			"Weir-Priority": "", "Weir-Attempt": "", "Weir-Timeout-Ms": "", "Weir-Refused": "",
			"Traceparent": given, "Tracestate": "a=b",
		} {
			if got := strings.Join(seen.Values(name), "|"); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if id.RequestID == "mine" || !slices.Equal(seen.Values("X-Request-Id"), []string{id.RequestID}) {
			t.Errorf("request %q, response %q", seen.Values("X-Request-Id"), id.RequestID)
		}
	}
}

func TestTrustedPeersAreBelieved(t *testing.T) {
	seen, id := told(t, inside(t), nil, config.Route{Priority: "low"}, spoofed...)
	for name, want := range map[string]string{
		"X-Forwarded-For": "198.51.100.7, 127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "admin.example", "X-Forwarded-Port": "443",
		"X-Real-IP": "198.51.100.7", "Forwarded": "",
		"Client-Cert": ":AAAA:", "Client-Cert-Chain": ":AAAA:", "X-Request-Id": "mine",
		"Weir-Priority": "critical", "Weir-Attempt": "2", "Weir-Refused": "", "Traceparent": given, "Tracestate": "a=b",
	} {
		if got := strings.Join(seen.Values(name), "|"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if left, err := time.ParseDuration(seen.Get("Weir-Timeout-Ms") + "ms"); err != nil || left >= time.Minute || left < 30*time.Second {
		t.Errorf("%v left of a minute: %v", left, err)
	}
	if id.RequestID != "mine" {
		t.Errorf("the response has %q", id.RequestID)
	}
}

func TestChainForTheUpstream(t *testing.T) {
	long := strings.Repeat("203.0.113.9, ", 900) + "198.51.100.7"
	for what, c := range map[string]struct {
		header []string
		chain  string
	}{
		"nothing":      {nil, "127.0.0.1"},
		"lines":        {[]string{"X-Forwarded-For", "1.1.1.1", "X-Forwarded-For", "10.0.0.2"}, "1.1.1.1, 10.0.0.2, 127.0.0.1"},
		"empty":        {[]string{"X-Forwarded-For", " , "}, "127.0.0.1"},
		"long lines":   {slices.Concat(slices.Repeat([]string{"X-Forwarded-For", "203.0.113.9"}, 400), []string{"X-Forwarded-For", "198.51.100.7"}), "198.51.100.7, 127.0.0.1"},
		"too long":     {[]string{"X-Forwarded-For", long}, "198.51.100.7, 127.0.0.1"},
		"only real IP": {[]string{"X-Real-IP", "198.51.100.7"}, "198.51.100.7, 127.0.0.1"},
	} {
		seen, _ := told(t, inside(t), nil, config.Route{}, c.header...)
		if got := strings.Join(seen.Values("X-Forwarded-For"), "|"); got != c.chain {
			t.Errorf("%s: %q, want %q", what, got, c.chain)
		}
		if proto, host := seen.Get("X-Forwarded-Proto"), seen.Get("X-Forwarded-Host"); proto != "http" || host != "shop.example" {
			t.Errorf("%s: %s://%s, want those of the connection", what, proto, host)
		}
	}
}

func TestUnixSocketsHaveNoAddress(t *testing.T) {
	r := from("@", spoofed...)
	id := Identify(r, inside(t), nil)
	if got := forwardedBy(t, r, id, config.Route{}).Get("X-Forwarded-For"); got != "unknown" || id.Trusted {
		t.Errorf("%q, trusted %v", got, id.Trusted)
	}
}

func TestRequestID(t *testing.T) {
	for text, kept := range map[string]bool{
		"4bf92f35-77b3:4d.a3+ce/92=;Root@x_y": true, strings.Repeat("a", maxRequestID): true,
		strings.Repeat("a", maxRequestID+1): false, "": false, "a b": false, "a\"b": false, "a\x7fb": false, "ä": false, "a\tb": false,
	} {
		id := Identify(from("10.0.0.1:9", "X-Request-Id", text), inside(t), nil)
		if (id.RequestID == text) != kept || !isPlain(id.RequestID) {
			t.Errorf("%q: %q", text, id.RequestID)
		}
	}
	if id := Identify(from("10.0.0.1:9", "X-Request-Id", "a", "X-Request-Id", "b"), inside(t), nil); len(id.RequestID) == 1 {
		t.Error("one of two")
	}
}

func TestTraces(t *testing.T) {
	for what, c := range map[string]struct {
		tracer *spans.Tracer
		peers  trust.Peers
		header []string
		want   string // a part
		state  string
	}{
		"off":                {nil, nil, []string{"Traceparent", given, "Tracestate", "a=b"}, given, "a=b"},
		"off, none":          {nil, nil, nil, "", ""},
		"off, garbage":       {nil, nil, []string{"Traceparent", "garbage", "Tracestate", "a=b"}, "", ""},
		"on, a stranger's":   {tracer(0), nil, []string{"Traceparent", given, "Tracestate", "a=b"}, given[:53] + "00", "a=b"},
		"on, a trusted one":  {tracer(0), inside(t), []string{"Traceparent", given}, given[:36], ""},
		"on, none":           {tracer(0), nil, nil, "-02", ""},
		"on, garbage":        {tracer(1), nil, []string{"Traceparent", "garbage", "Tracestate", "a=b"}, "-03", ""},
		"on, two are no one": {tracer(0), inside(t), []string{"Traceparent", given, "Traceparent", given}, "-02", ""},
	} {
		seen, _ := told(t, c.peers, c.tracer, config.Route{}, c.header...)
		got := strings.Join(seen.Values("Traceparent"), "|")
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") || seen.Get("Tracestate") != c.state {
			t.Errorf("%s: %q %q, want %q %q", what, got, seen.Get("Tracestate"), c.want, c.state)
		}
		if what == "on, a trusted one" && (got == given || !strings.HasSuffix(got, "-01")) {
			t.Errorf("%s: %q, want our span as the parent", what, got)
		}
	}
}
