package proxy

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A conversation may be as slow as it likes: one whose response has begun, and one of gRPC.
func TestSlowConversation(t *testing.T) {
	t.Parallel()
	for path, begins := range map[string]bool{"/begun": true, "/a.B/C": false} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			upstream := tcptest.ServeHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if begins {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
				}
				text, err := io.ReadAll(r.Body)
				fmt.Fprint(w, len(text), err)
			})).URL
			r := startAt(t, fmt.Sprintf(`
listeners: [{address: "127.0.0.1:0", body_timeout: 3s, body_rate: 1MiB}]
admin: {address: "127.0.0.1:0"}
upstreams: {api: {addresses: [%q], protocol: http2}}
routes: [{path: /begun}, {grpc: a.B/*}]`, upstream))
			body, sender := io.Pipe()
			go func() {
				defer sender.Close()
				for range 32 { // longer than the timeout
					_, _ = io.WriteString(sender, "x")
					<-time.After(100 * time.Millisecond)
				}
			}()
			answer := must.Have((&http.Client{Transport: tcptest.Transport(t, true)}).Post("http://"+r.address+path, "application/grpc", body))(t)
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); string(text) != "32 <nil>" || answer.StatusCode != http.StatusOK {
				t.Errorf("status %d: %q, %v", answer.StatusCode, text, err)
			}
		})
	}
}
