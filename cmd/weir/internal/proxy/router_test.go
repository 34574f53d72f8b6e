package proxy

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestRoutes(t *testing.T) {
	a, _ := named(t, "a")
	b, _ := named(t, "b")
	r := start(t, fmt.Sprintf(`
upstreams:
  a: {addresses: [%q]}
  b: {addresses: [%q]}
routes:
  - {upstream: a}
  - {path: "/search/{term}", upstream: b}
  - {path: /search/hot, method: GET, upstream: a, compartment: hot}
  - {host: b.example.com, upstream: b}
  - {grpc: shop.Orders/*, upstream: b}
  - {path: /health, exempt: true, upstream: b}
compartments: {hot: {}}
`, a, b))
	for _, test := range []struct {
		method, host, path string
		want, compartment  string // the upstream that answers, and the compartment that admits
	}{
		{"GET", "", "/", "a", "a"},
		{"POST", "", "/search/x", "b", "b"},
		{"GET", "", "/search/hot", "a", "hot"},
		{"GET", "", "/a/../search/x", "b", "b"},
		{"GET", "", "//search/x", "b", "b"},
		{"GET", "B.Example.com:8080", "/search/hot", "b", "b"},
		{"GET", "b.example.com.", "/", "b", "b"},
		{"GET", "b.example.com.:8080", "/", "b", "b"},
		{"POST", "", "/shop.Orders/List", "b", "b"},
		{"GET", "", "/health", "b", ""},
	} {
		before := r.Snapshot().ByKey
		req := must.Have(http.NewRequest(test.method, "http://"+r.address+test.path, nil))(t)
		req.Host = test.host
		answer, err := http.DefaultTransport.RoundTrip(req) // follows no redirect
		if err != nil {
			t.Fatal(err)
		}
		var got [1]byte
		_, _ = answer.Body.Read(got[:])
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || string(got[:]) != test.want {
			t.Errorf("%s %s%s: %d %q, want one of %q", test.method, test.host, test.path, answer.StatusCode, got, test.want)
		}
		for name, now := range r.Snapshot().ByKey {
			if took := now.Admitted > before[name].Admitted; took != (name == test.compartment) {
				t.Errorf("%s %s%s: compartment %q admitted it: %v", test.method, test.host, test.path, name, took)
			}
		}
	}
}

func TestNoRoute(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, fmt.Sprintf(`
upstreams: {a: {addresses: [%q]}}
routes: [{path: /only, method: GET}]
`, a))
	if status, _ := r.get("/other"); status != http.StatusNotFound {
		t.Errorf("no path: status %d, want 404", status)
	}
	answer := must.Have(http.Post("http://"+r.address+"/only", "", nil))(t)
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("another method: %s, Allow %q", answer.Status, answer.Header.Get("Allow"))
	}
}
