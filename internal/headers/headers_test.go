package headers_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/headers"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		text, date string
		want       time.Duration
		ok         bool
	}{
		{"7", "", 7 * time.Second, true},
		{"0", "", 0, true},
		{"9223372036", "", 9223372036 * time.Second, true},
		{"9223372037", "", math.MaxInt64, true},
		{"99999999999999999999999", "", math.MaxInt64, true},
		{"Thu, 01 Jan 2026 12:00:30 GMT", "", 30 * time.Second, true},
		{"Thu, 01 Jan 2026 12:00:30 GMT", "Thu, 01 Jan 2026 12:00:10 GMT", 20 * time.Second, true},
		{"Thu, 01 Jan 2026 12:00:30 GMT", "yesterday", 30 * time.Second, true},
		{"Thu, 01 Jan 2026 11:00:00 GMT", "", 0, true},
		{"", "", 0, false},
		{"-7", "", 0, false},
		{"+7", "", 0, false},
		{"1.5", "", 0, false},
		{" ", "", 0, false},
		{"soon", "", 0, false},
	} {
		h := http.Header{"Retry-After": {test.text}}
		if test.date != "" {
			h.Set("Date", test.date)
		}
		if got, ok := headers.RetryAfter(h, now); got != test.want || ok != test.ok {
			t.Errorf("RetryAfter(%q, Date %q) = %v, %t; want %v, %t", test.text, test.date, got, ok, test.want, test.ok)
		}
	}
	if _, ok := headers.RetryAfter(http.Header{}, now); ok {
		t.Error("a response without Retry-After has one")
	}
}

func TestRemoveHopByHop(t *testing.T) {
	h := http.Header{
		"Connection": {"close, x-one ,", "X-Two"}, "X-One": {"1"}, "X-Two": {"2"}, "Keep-Alive": {"5"}, "Te": {"trailers"}, "Trailer": {"X"},
		"Transfer-Encoding": {"chunked"}, "Upgrade": {"a"}, "Proxy-Connection": {"close"}, "Proxy-Authorization": {"a"}, "Proxy-Authenticate": {"a"}, "Etag": {"1"},
	}
	if headers.RemoveHopByHop(h); len(h) != 1 || h["Etag"] == nil {
		t.Errorf("%v stays", h)
	}
}

func TestCleanQuery(t *testing.T) {
	for query, want := range map[string]string{
		"": "", "a=1&b=%41&a": "a=1&b=%41&a", "a=1;b=2": "", "a=%4": "", "a=%zz&b=1": "b=1", "a=%": "",
		"a=1 HTTP/1.1":               "a=1+HTTP%2F1.1",
		strings.Repeat("a&", 10_001): "",
	} {
		if got := headers.CleanQuery(query); got != want {
			t.Errorf("%.20q: %q, want %q", query, got, want)
		}
	}
}

func TestTimeout(t *testing.T) {
	for text, want := range map[string]string{"50": "50ms true", "86400000": "24h0m0s true", "86400001": "24h0m0.001s false", "-1": "0s false", "1.5": "0s false", "": "0s false"} {
		if got := fmt.Sprintln(headers.Timeout([]string{text})); got != want+"\n" {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, ok := headers.Timeout([]string{"1", "1"}); ok {
		t.Error("two lines are believed")
	}
}

func TestGRPCTimeout(t *testing.T) {
	for text, want := range map[string]string{
		"24H": "24h0m0s", "2M": "2m0s", "3S": "3s", "50m": "50ms", "7u": "7µs", "99999999n": "99.999999ms", "0n": "0s",
		"25H": "", "99999999H": "", "123456789n": "", "S": "", "": "", "1s": "", "-1S": "", "1.5S": "", "+1S": "",
	} {
		if got, ok := headers.GRPCTimeout([]string{text}); ok != (want != "") || ok && got.String() != want {
			t.Errorf("%q: %v, %v, want %q", text, got, ok, want)
		}
	}
	if _, ok := headers.GRPCTimeout([]string{"1S", "1S"}); ok {
		t.Error("two lines are believed")
	}
}

func TestTellWait(t *testing.T) {
	h := http.Header{}
	headers.TellWait(h, 0)
	headers.TellWait(h, 12300*time.Microsecond)
	if got := h["Server-Timing"]; len(got) != 1 || got[0] != "weir;dur=12.3" {
		t.Errorf("%q", got)
	}
	if headers.IsPrintable("a\x7f") || !headers.IsPrintable("h2c") {
		t.Error("IsPrintable")
	}
}

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
