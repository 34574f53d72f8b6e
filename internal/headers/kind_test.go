package headers_test

import (
	"net/http"
	"testing"

	"github.com/weir-go/weir/internal/headers"
)

func TestKinds(t *testing.T) {
	type kinds struct{ grpc, events, upgrade bool }
	for _, c := range []struct {
		header http.Header
		want   kinds
	}{
		{nil, kinds{}},
		{http.Header{"Content-Type": {"application/json"}}, kinds{}},
		{http.Header{"Content-Type": {"Application/gRPC+proto"}}, kinds{grpc: true}},
		{http.Header{"Content-Type": {"application/grp"}}, kinds{}},
		{http.Header{"Content-Type": {"text/Event-Stream; charset=utf-8"}}, kinds{events: true}},
		{http.Header{"Content-Type": {"text/event-streams"}}, kinds{}},
		{http.Header{"Connection": {"keep-alive", "x, Upgrade"}, "Upgrade": {"websocket"}}, kinds{upgrade: true}},
		{http.Header{"Connection": {"upgrade"}}, kinds{}},
		{http.Header{"Upgrade": {"websocket"}}, kinds{}},
		{http.Header{"Connection": {"upgraded"}, "Upgrade": {"websocket"}}, kinds{}},
		{http.Header{"Connection": {"Upgrade, HTTP2-Settings"}, "Upgrade": {"h2c"}}, kinds{}},
		{http.Header{"Connection": {"upgrade"}, "Upgrade": {"TLS/1.2"}}, kinds{}},
		{http.Header{"Connection": {"upgrade"}, "Upgrade": {"TLSx/1.2"}}, kinds{upgrade: true}},
	} {
		if got := (kinds{
			headers.IsGRPC(c.header), headers.IsEvents(c.header), headers.IsUpgrade(c.header),
		}); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.header, got, c.want)
		}
	}
}
