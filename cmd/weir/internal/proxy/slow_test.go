package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
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

// net/http may still read the header map of an informational response after the client has reset
// its request. A change of that map would end the process; the race detector sees it every time.
func TestResetBesideInformationalResponses(t *testing.T) {
	hinted, leave := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", strings.Repeat("x", 60_000))
		for range 100 { // more than the buffers of a connection take
			w.WriteHeader(http.StatusEarlyHints)
		}
		w.Header().Del("Link")
		close(hinted)
		<-leave
	}))
	t.Cleanup(upstream.Close)
	defer close(leave)
	p := start(t, file(upstream.URL, "routes: [{client_leaves: cancel}]"))
	conn := must.Have(net.Dial("tcp", p.address))(t)
	defer conn.Close()
	const get = "\x82\x86\x84\x41\x01h"
	must.Have(io.WriteString(conn, preface+frame(settings, 0, 0, "")+frame(headers, endStream|endHeaders, 1, get)))(t)
	<-hinted
	must.Have(io.WriteString(conn, frame(reset, 0, 1, "\x00\x00\x00\x08")))(t)
	must.Happen(t, "the request has ended", func() bool { return p.Requests() == 1 })
}
