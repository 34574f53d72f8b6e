package client

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/spans"
	"github.com/weir-go/weir/trust"
)

// told returns the header that the upstream receives for a client's header, through real
// servers and connections.
func told(t *testing.T, peers trust.Peers, tracer *spans.Tracer, route config.Route, header ...string) (seen, answer http.Header) {
	t.Helper()
	url, headers := upstream(t)
	routed, err := Prioritize(forwarder(t, url), route)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(New(routed, peers, tracer))
	defer proxy.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "shop.example"
	add(r.Header, header)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	w.Body.Close()
	return headers(), w.Header
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
		seen, answer := told(t, nil, nil, config.Route{}, header...)
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
		id := answer.Values("X-Request-Id")
		if len(id) != 1 || id[0] == "mine" || !slices.Equal(seen.Values("X-Request-Id"), id) {
			t.Errorf("request %q, response %q", seen.Values("X-Request-Id"), id)
		}
		if answer.Get("Weir-Refused") != "" {
			t.Error("the upstream's refusal passes for one of ours")
		}
	}
}

func TestTrustedPeersAreBelieved(t *testing.T) {
	seen, answer := told(t, inside(t), nil, config.Route{Priority: "low"}, spoofed...)
	for name, want := range map[string]string{
		"X-Forwarded-For": "198.51.100.7, 127.0.0.1", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "admin.example", "X-Forwarded-Port": "443",
		"X-Real-IP": "198.51.100.7", "Forwarded": `for=198.51.100.7, for=127.0.0.1;host="shop.example";proto=http`,
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
	if got := answer.Values("X-Request-Id"); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("the response has %q", got)
	}
}

func TestChainForTheUpstream(t *testing.T) {
	long := strings.Repeat("203.0.113.9, ", 900) + "198.51.100.7"
	for what, c := range map[string]struct {
		header         []string
		chain, element string
	}{
		"nothing":        {nil, "127.0.0.1", ""},
		"lines":          {[]string{"X-Forwarded-For", "1.1.1.1", "X-Forwarded-For", "10.0.0.2"}, "1.1.1.1, 10.0.0.2, 127.0.0.1", ""},
		"empty":          {[]string{"X-Forwarded-For", " , "}, "127.0.0.1", ""},
		"too long":       {[]string{"X-Forwarded-For", long, "Forwarded", "for=" + long}, "198.51.100.7, 127.0.0.1", ""},
		"only real IP":   {[]string{"X-Real-IP", "198.51.100.7"}, "198.51.100.7, 127.0.0.1", ""},
		"only Forwarded": {[]string{"Forwarded", "for=1.1.1.1"}, "1.1.1.1, 127.0.0.1", `for=1.1.1.1, for=127.0.0.1;host="shop.example";proto=http`},
	} {
		seen, _ := told(t, inside(t), nil, config.Route{}, c.header...)
		if got := strings.Join(seen.Values("X-Forwarded-For"), "|"); got != c.chain {
			t.Errorf("%s: %q, want %q", what, got, c.chain)
		}
		if got := strings.Join(seen.Values("Forwarded"), "|"); got != c.element {
			t.Errorf("%s: %q, want %q", what, got, c.element)
		}
	}
}

func TestUnixSocketsHaveNoAddress(t *testing.T) {
	r := from("@", spoofed...)
	id, _ := identified(t, r, inside(t), nil)
	out := r.Clone(t.Context())
	id.Forward(r, out)
	if got := out.Header.Get("X-Forwarded-For"); got != "unknown" || id.Trusted {
		t.Errorf("%q, trusted %v", got, id.Trusted)
	}
}

// An exempt route has no Prioritize, which removes some of these.
func TestForwardTrustsAlone(t *testing.T) {
	for remote, want := range map[string]string{"192.0.2.1:9": "", "10.0.0.1:9": "critical 2"} {
		r := from(remote, spoofed...)
		id, _ := identified(t, r, inside(t), nil)
		out := r.Clone(t.Context())
		id.Forward(r, out)
		got := strings.TrimSpace(out.Header.Get("Weir-Priority") + " " + out.Header.Get("Weir-Attempt"))
		if got != want || out.Header.Get("Weir-Timeout-Ms") != "" {
			t.Errorf("%s: %q, timeout %q", remote, got, out.Header.Get("Weir-Timeout-Ms"))
		}
	}
}

func TestElement(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:9":     `for=192.0.2.1;host="a\"b\\";proto=http`,
		"[2001:db8::1]:9": `for="[2001:db8::1]";host="a\"b\\";proto=http`,
		"@":               `for=unknown;host="a\"b\\";proto=http`,
	} {
		id, _ := identified(t, from(remote), nil, nil)
		if got := elementOf(id.Peer, "http", `a"b\`); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}

func TestRequestID(t *testing.T) {
	for text, kept := range map[string]bool{
		"4bf92f35-77b3:4d.a3+ce/92=;Root@x_y": true, strings.Repeat("a", maxRequestID): true,
		strings.Repeat("a", maxRequestID+1): false, "": false, "a b": false, "a\"b": false, "a\x7fb": false, "ä": false, "a\tb": false,
	} {
		id, answer := identified(t, from("10.0.0.1:9", "X-Request-Id", text), inside(t), nil)
		if (id.RequestID == text) != kept || !isPlain(id.RequestID) || answer.Get("X-Request-Id") != id.RequestID {
			t.Errorf("%q: %q", text, id.RequestID)
		}
	}
	if id, _ := identified(t, from("10.0.0.1:9", "X-Request-Id", "a", "X-Request-Id", "b"), inside(t), nil); len(id.RequestID) == 1 {
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
		"on, a stranger's":   {tracer(t, 0), nil, []string{"Traceparent", given, "Tracestate", "a=b"}, given[:53] + "00", "a=b"},
		"on, a trusted one":  {tracer(t, 0), inside(t), []string{"Traceparent", given}, given[:36], ""},
		"on, none":           {tracer(t, 0), nil, nil, "-02", ""},
		"on, garbage":        {tracer(t, 1), nil, []string{"Traceparent", "garbage", "Tracestate", "a=b"}, "-03", ""},
		"on, two are no one": {tracer(t, 0), inside(t), []string{"Traceparent", given, "Traceparent", given}, "-02", ""},
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
