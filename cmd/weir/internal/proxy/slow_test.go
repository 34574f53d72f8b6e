package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// startHasty runs a proxy with one stream, which wants 1 MiB/s and has a body timeout.
func startHasty(t *testing.T, timeout time.Duration, upstream http.HandlerFunc, more string) *running {
	server := httptest.NewUnstartedServer(upstream)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return startAt(t, fmt.Sprintf(`
listeners: [{address: "127.0.0.1:0", body_timeout: %s, body_rate: 1MiB}]
admin: {address: "127.0.0.1:0"}
streams: {max: 1}
upstreams: {api: {addresses: [%q], protocol: http2}}
%s`, timeout, server.URL, more))
}

// A conversation may be as slow as it likes: one whose response has begun, and one of gRPC.
func TestSlowConversation(t *testing.T) {
	t.Parallel()
	const route = "routes: [{path: /begun}, {grpc: a.B/*}]"
	for path, begins := range map[string]bool{"/begun": true, "/a.B/C": false} {
		t.Run(path, func(t *testing.T) {
			r := startHasty(t, time.Second, func(w http.ResponseWriter, r *http.Request) {
				if begins {
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
				}
				text, err := io.ReadAll(r.Body)
				fmt.Fprint(w, len(text), err)
			}, route)
			transport := &http.Transport{Protocols: new(http.Protocols)}
			transport.Protocols.SetUnencryptedHTTP2(true)
			defer transport.CloseIdleConnections()
			body, sender := io.Pipe()
			go func() {
				defer sender.Close()
				for range 20 { // longer than the timeout
					_, _ = io.WriteString(sender, "x")
					<-time.After(60 * time.Millisecond)
				}
			}()
			answer := must.Have((&http.Client{Transport: transport}).Post("http://"+r.address+path, "application/grpc", body))(t)
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); string(text) != "20 <nil>" || answer.StatusCode != http.StatusOK {
				t.Errorf("status %d: %q, %v", answer.StatusCode, text, err)
			}
		})
	}
}
