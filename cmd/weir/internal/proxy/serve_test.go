package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// The access log has a line for each request, with the route, the compartment and the upstream.
func TestAccessLog(t *testing.T) {
	a, _ := named(t, "a")
	r := start(t, file(a, "log: {access: true}"))
	res := must.Have(http.Get("http://" + r.address + "/x"))(t)
	res.Body.Close()
	const want = "path=/x route=/ compartment=api status=200 bytes=1"
	must.Happen(t, "the line is there", func() bool { return strings.Contains(r.said.String(), "msg=request") })
	for _, part := range []string{want, "upstream=" + strings.TrimPrefix(a, "http://"), "request_id=" + res.Header.Get("X-Request-Id")} {
		if !strings.Contains(r.said.String(), part) {
			t.Errorf("no %s in %s", part, r.said)
		}
	}
}
