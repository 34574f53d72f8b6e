package proxy

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
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
exempt: {paths: [/ping]}
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
		{"GET", "", "/ping", "a", ""},
	} {
		before := r.Snapshot().ByKey
		req, err := http.NewRequest(test.method, "http://"+r.address+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
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
	answer, err := http.Post("http://"+r.address+"/only", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("another method: %s, Allow %q", answer.Status, answer.Header.Get("Allow"))
	}
	connect, err := http.NewRequest(http.MethodConnect, "http://"+r.address, nil)
	if err != nil {
		t.Fatal(err)
	}
	connect.Host = "example.com:443"
	answer, err = http.DefaultTransport.RoundTrip(connect)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("CONNECT: %s, want 405", answer.Status)
	}
}

// A request line may hold a URL without slashes, whose rest would be sent as another URL that
// the routes never saw.
func TestURLWithoutAPath(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, fmt.Sprintf("upstreams: {a: {addresses: [%q]}}", a))
	for _, target := range []string{"x:http://other/secret", "x:secret", "x:%2fsecret"} {
		conn, err := net.Dial("tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", target)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s, want 400", target, answer.Status)
		}
	}
}
