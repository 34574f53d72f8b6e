package proxy

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A client that violates HTTP/2 makes net/http log each of its connections.
func TestClientsCannotFloodTheLog(t *testing.T) {
	r := start(t, file("http://127.0.0.1:1", ""))
	const connections = 200
	for range connections {
		conn := must.Have(net.Dial("tcp", r.address))(t)
		windowUpdateOfZero := frame(windowUpdate, 0, 0, "\x00\x00\x00\x00")
		_, _ = io.WriteString(conn, preface+frame(settings, 0, 0, "")+windowUpdateOfZero)
		for kind := byte(data); kind != goAway; { // which the server sends after its log line
			var err error
			if kind, _, _, _, err = readFrame(conn); err != nil {
				t.Fatalf("no GOAWAY: %v", err)
			}
		}
		conn.Close()
	}
	r.stop()
	must.Do(t, <-r.ended)
	lines := strings.Count(r.said.String(), "connection error")
	if lines == 0 || lines > connections/2 {
		t.Errorf("%d lines about %d connections\n%s", lines, connections, r.said)
	}
	if !strings.Contains(r.said.String(), "stopping") {
		t.Error("the log does not say that the proxy stops")
	}
}

// The log says which address took too long, and which limiter refused a request, or its response.
func TestAccessLogOfFailures(t *testing.T) {
	upstream := tcptest.ServeHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/late":
			<-r.Context().Done()
		case "/events":
			w.Header().Set("Content-Type", "text/event-stream")
			fallthrough
		case "/large":
			_, _ = w.Write(make([]byte, 100))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})).URL
	for _, protocol := range []string{"http1", "http2"} {
		r := start(t, `
upstreams: {api: {addresses: ["`+upstream+`"], protocol: `+protocol+`}}
routes: [{path: /}, {path: /late, timeout: 50ms}]
buffers: {response: 10}
streams: {max: 2, events: 1}
log: {access: true}
`)
		for _, path := range []string{"/late", "/events", "/events", "/large", "/large"} {
			answer, err := http.Get("http://" + r.address + path) // has the header
			if err == nil {
				defer answer.Body.Close()
			}
		}
		for _, want := range []string{
			`msg="request failed" error="route /late: upstream api, ` + upstream + `: weir: execution timeout"`,
			`path=/late route=/late compartment=api status=504`,
			`path=/events route=/ compartment=api status=503`,
			`upstream=` + strings.TrimPrefix(upstream, "http://") + ` limiter=events refused="limit reached" request_id=`,
			`path=/large`, `limiter=streams refused="tenant over its share"`,
		} {
			must.Happen(t, protocol+": "+want, func() bool { return strings.Contains(r.said.String(), want) })
		}
	}
}
