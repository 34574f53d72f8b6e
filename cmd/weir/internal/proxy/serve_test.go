package proxy

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// The access log has a line for each request, with the route, the compartment and the upstream.
func TestAccessLog(t *testing.T) {
	a, _ := named(t, "a")
	c, err := config.Parse("weir.yaml", []byte(addresses+file(a, "log: {access: true}")), nil)
	if err != nil {
		t.Fatal(err)
	}
	said := new(lockedBuffer)
	p, err := New(c, Options{Log: slog.New(slog.NewTextHandler(said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	listeners, _ := p.Addresses()
	go func() { _ = p.listeners[0].Serve() }()
	res, err := http.Get("http://" + listeners[0].String() + "/x")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	const want = "path=/x route=/ compartment=api status=200 bytes=1"
	eventually(t, "the line is there", func() bool { return strings.Contains(said.String(), "msg=request") })
	for _, part := range []string{want, "upstream=" + strings.TrimPrefix(a, "http://"), "request_id=" + res.Header.Get("X-Request-Id")} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("no %s in %s", part, said)
		}
	}
}
