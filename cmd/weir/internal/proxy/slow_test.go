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

// trickle sends a byte a millisecond until the connection is closed.
func trickle(to io.Writer, piece string) {
	for range time.Tick(time.Millisecond) {
		if _, err := io.WriteString(to, piece); err != nil {
			return
		}
	}
}

// A slow upload gets a 408. If its body finds no room in the buffers, its slot and its request to
// the upstream end; otherwise the upstream was not asked.
func TestSlowUpload(t *testing.T) {
	t.Parallel()
	for name, framing := range map[string]struct {
		header, piece, more string
		streams             bool
	}{
		"length": {"Content-Length: 100000000", "x", "", false},
		"stream": {"Content-Length: 100000000", "x", "buffers: {request: 0, file: 0}", true},
		"chunks": {"Transfer-Encoding: chunked", "1\r\nx\r\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 1)
			r := startHasty(t, time.Second, func(_ http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				ended <- err
			}, framing.more)
			conn := must.Have(net.Dial("tcp", r.address))(t)
			defer conn.Close()
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n", framing.header)
			go trickle(conn, framing.piece)
			answers := bufio.NewReader(conn)
			answer := must.Have(http.ReadResponse(answers, nil))(t)
			_, _ = io.Copy(io.Discard, answer.Body)
			if answer.StatusCode != http.StatusRequestTimeout || !answer.Close {
				t.Errorf("status %d, closes %v: want 408 and the end of the connection", answer.StatusCode, answer.Close)
			}
			if framing.streams {
				if err := <-ended; err == nil {
					t.Error("the upstream saw a whole body")
				}
			} else if len(ended) > 0 {
				t.Error("the upstream was asked")
			}
			must.Happen(t, "its slot is free", func() bool { return r.Snapshot().ByKey["api"].InFlight == 0 })
			must.Happen(t, "its connection is closed", func() bool { return r.listeners[0].Counts().Open == 0 })
			want := fmt.Sprintf("weir_proxy_connections_closed_total{listener=%q,reason=\"slow\"} 1\n", r.address)
			if text := r.metrics(); !strings.Contains(text, want) {
				t.Errorf("the metrics lack %s", want)
			}
			if s := r.Snapshot().ByKey["api"]; s.Failed != 0 || s.TimedOut != 0 {
				t.Errorf("the client is slow, and the limit learned of a failure: %+v", s)
			}
		})
	}
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
