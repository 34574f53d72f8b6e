package proxy

import (
	"bufio"
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
// its request. A change of that map would end the process. The race detector sees it if a reset
// comes while net/http encodes a header, which takes most of the time here.
func TestResetBesideInformationalResponses(t *testing.T) {
	leave := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", strings.Repeat("x", 30_000))
		for range 8 {
			w.WriteHeader(http.StatusEarlyHints)
		}
		<-leave
	}))
	t.Cleanup(upstream.Close)
	defer close(leave)
	p := start(t, file(upstream.URL, "routes: [{client_leaves: cancel}]"))
	conn := must.Have(net.Dial("tcp", p.address))(t)
	defer conn.Close()
	must.Have(io.WriteString(conn, preface+frame(settings, 0, 0, "")))(t)
	from := bufio.NewReader(conn)
	for stream := uint32(1); stream < 40; stream += 2 {
		const get = "\x82\x86\x84\x41\x01h"
		must.Have(io.WriteString(conn, frame(headers, endStream|endHeaders, stream, get)))(t)
		for head := [9]byte{}; head[3] != headers || head[8] != byte(stream); {
			must.Have(io.ReadFull(from, head[:]))(t)
			must.Have(from.Discard(int(head[0])<<16 | int(head[1])<<8 | int(head[2])))(t)
		}
		must.Have(io.WriteString(conn, frame(reset, 0, stream, "\x00\x00\x00\x08")))(t)
	}
	must.Happen(t, "the requests have ended", func() bool { return p.Requests() == 20 })
}
