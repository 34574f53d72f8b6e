package relay_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/weir-go/weir/examples/relay/relay"
	"github.com/weir-go/weir/internal/must"
)

func TestInternalListener(t *testing.T) {
	s := serve(t, relay.Config{MessageRate: 0.001, Connections: 1})
	c := connect(t, s.in, nil)
	connect(t, s.in, nil)
	s.client() // none of them counts
	for range 50 {
		c.publish(someone.event(20_000, ""))
	}
	for _, name := range []string{"relay_connections", "weir_throttle_load", "weir_in_flight", "weir_governor_target_bytes"} {
		r := must.Have(http.Get(s.in + "/metrics"))(t)
		text, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if !bytes.Contains(text, []byte("\n"+name)) {
			t.Errorf("no %s in the metrics", name)
		}
	}
}

// A page in a browser on the relay's machine can reach the internal listener, but the
// listener refuses it.
func TestInternalListenerRefusesPages(t *testing.T) {
	s := serve(t, relay.Config{})
	request := must.Have(http.NewRequestWithContext(t.Context(), http.MethodPost, s.in+"/metrics", strings.NewReader("")))(t)
	request.Header.Set("Origin", "https://page.example")
	answer := must.Have(http.DefaultClient.Do(request))(t)
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a page that posts: %s, want 403", answer.Status)
	}
	page := &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://page.example"}}}
	for url, admitted := range map[string]bool{s.url: true, s.in: false} {
		socket, _, err := websocket.Dial(t.Context(), url, page)
		if (err == nil) != admitted {
			t.Errorf("a page that connects to %s: %v, want it admitted: %v", url, err, admitted)
		}
		if err == nil {
			socket.CloseNow()
		}
	}
}
