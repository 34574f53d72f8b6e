package exchange

import (
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

func TestShares(t *testing.T) {
	s := shares{name: "streams"}
	one, other, neighbour := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	var gives []func()
	for i, c := range []struct {
		of      string
		client  netip.Addr
		most    int
		refused bool
	}{
		{"/", one, 4, false},
		{"/", one, 4, false},
		{"/", one, 4, true}, // half
		{"/", other, 4, false},
		{"/", neighbour, 4, false},
		{"/", netip.Addr{}, 4, true}, // all
		{"/b", one, 1, false},        // at least one
		{"/b", other, 1, true},
		{"/c", netip.Addr{}, 2, false},
		{"/c", netip.Addr{}, 2, false}, // no client is known
		{"/c", netip.Addr{}, 2, true},
	} {
		give, err := s.take(c.of, c.client, c.most)
		if (err != nil) != c.refused {
			t.Errorf("step %d: %v", i, err)
		}
		if give != nil {
			gives = append(gives, give)
		}
	}
	for _, give := range gives {
		give()
	}
	if n, m := s.all.Used(), s.clients.Used(); n != 0 || m != 0 {
		t.Errorf("%d and %d are still taken", n, m)
	}
}

// By HTTP/2 a client could otherwise take all streams, on a connection.
func TestConversationsOfOneClient(t *testing.T) {
	rg := newRig(t, 10, true, echo, func(c *config.Config, r *config.Route) { r.Streams, r.Body = 4, bodyStreams })
	rg.shared.pause = time.Millisecond
	client := rg.client(true)
	for range 3 {
		body, sender := io.Pipe()
		defer sender.Close()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, rg.front.URL, body)
		go func() { _, _, _ = read(client.Do(req)) }()
	}
	const share = "tenant over its share"
	rg.until("one is refused", func() bool { c := rg.shared.Counts(); return c.Refused[share] == 1 && c.Streamed == 2 })
	if status, _, err := rg.get("/"); status != http.StatusOK || err != nil {
		t.Errorf("a request beside them: status %d, %v", status, err)
	}
}
