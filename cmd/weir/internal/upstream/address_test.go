package upstream

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://a/x?y=1":       "want no user, query or fragment",
		"http://a/#x":          "want no user, query or fragment",
		"http://user:secret@a": "want no user, query or fragment",
		"ftp://a":              "want http://host:port",
		"a:80":                 "want http://host:port",
		"127.0.0.1:80":         "first path segment",
		"http://":              "want http://host:port",
		"http://:80":           "want http://host:port",
		"unix:":                "want http://host:port",
		"unix:run/app.sock":    "want http://host:port",
		"":                     "want http://host:port",
		"http://a:80:80":       "invalid",
	} {
		_, err := New("api", defaults("http://good", address), nil, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "upstreams.api.addresses[1]: ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v, want it to say %q", address, err, want)
		}
	}
	for _, twice := range []string{"http://good", "http://good/"} {
		if _, err := New("api", defaults("http://good", twice), nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%q beside http://good: error %v", twice, err)
		}
	}
	if _, err := New("api", defaults("http://good", "https://good", "http://good/below"), nil, slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("different addresses of a host: %v", err)
	}
	if _, err := New("api", defaults(), nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "upstreams.api.addresses: want at least one") {
		t.Errorf("no address: error %v", err)
	}
}

// Clients cannot reach paths above the base path, however they write them.
func TestLocateStaysBelowTheBasePath(t *testing.T) {
	a := must.Have(parseAddress("http://a/api"))(t)
	for path, want := range map[string]string{
		"/../x": "/api/x", "/%2e%2e/x": "/api/x", "/..%2fx": "/api/x", "/y/../../x": "/api/x", "/..": "/api/",
		"/..x/y%2Fz": "/api/..x/y%2Fz",
	} {
		u := must.Have(url.Parse(path))(t)
		a.locate(u)
		if got := u.EscapedPath(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// The URL is joined as in httputil.ReverseProxy, except for a path that climbs.
func FuzzLocate(f *testing.F) {
	for _, base := range []string{"http://a", "http://a:80/", "https://a/api", "http://a/api/", "http://a/a%2Fb"} {
		for _, path := range []string{"/", "", "/x", "x", "/x%2Fy?a=b;c", "//x", "/../x", "/!"} {
			f.Add(base, path)
		}
	}
	f.Fuzz(func(t *testing.T, base, path string) {
		a, err := parseAddress(base)
		if err != nil || a.socket != "" {
			t.Skip()
		}
		u, err := url.Parse(path)
		if err != nil || u.Path == "*" || u.Host != "" || u.Opaque != "" || u.Scheme != "" || climbs(u.Path) {
			t.Skip()
		}
		u.User, u.Fragment, u.RawFragment = nil, "", ""
		got := *u
		a.locate(&got)
		target := must.Have(url.Parse(base))(t)
		want := &httputil.ProxyRequest{Out: &http.Request{URL: u, Header: http.Header{}}}
		want.SetURL(target)
		if a.raw == "" { // ReverseProxy adds a slash, which net/http adds when it sends
			u.Path, u.RawPath = got.Path, got.RawPath
		}
		if got.String() != u.String() {
			t.Fatalf("%q for %q: %s, want %s", base, path, &got, u)
		}
	})
}

func TestHost(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.Host)) }))
	defer server.Close()
	c := defaults(server.URL)
	p, _ := started(t, c)
	if text, err := ask(p); text != "example.com" || err != nil {
		t.Errorf("asked for %q, %v; want the client's host", text, err)
	}
	c.Host = "api.internal"
	p, _ = started(t, c)
	if text, err := ask(p); text != "api.internal" || err != nil {
		t.Errorf("asked for %q, %v; want the configured host", text, err)
	}
}
