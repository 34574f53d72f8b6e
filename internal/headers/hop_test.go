package headers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/headers"
)

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
