package upstream

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

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
		for _, path := range []string{"/", "/x", "/x%2Fy?a=b;c", "//x", "/../x", "/!"} {
			f.Add(base, path)
		}
	}
	f.Fuzz(func(t *testing.T, base, path string) {
		a, err := parseAddress(base)
		if err != nil || a.scheme != "http" && a.scheme != "https" {
			t.Skip()
		}
		target := must.Have(url.Parse(base))(t)
		if target.RawQuery != "" || target.Hostname() == "" { // as the configuration has checked
			t.Skip()
		}
		u, err := url.Parse(path)
		if err != nil || !strings.HasPrefix(path, "/") || u.Host != "" || u.Opaque != "" || u.Scheme != "" || climbs(u.Path) {
			t.Skip()
		}
		u.User, u.Fragment, u.RawFragment = nil, "", ""
		got := *u
		a.locate(&got)
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
