package proxytest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/tcptest"
)

// A recorder is an upstream that keeps every byte it receives, and counts the whole requests.
type recorder struct {
	address string

	mu       sync.Mutex
	sent     bytes.Buffer
	requests int
}

// record starts a recorder.
func record(t testing.TB) *recorder {
	t.Helper()
	r := &recorder{}
	r.address = tcptest.Serve(t, r.serve)
	return r
}

func (r *recorder) serve(conn net.Conn) {
	in := bufio.NewReader(io.TeeReader(conn, r))
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return // a body that ends early makes no whole request
		}
		r.mu.Lock()
		r.requests++
		r.mu.Unlock()
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
}

// Write keeps the bytes of a connection.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent.Write(p)
}

// take returns the requests and bytes since the last call.
func (r *recorder) take() (requests int, sent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests, sent = r.requests, r.sent.String()
	r.requests = 0
	r.sent.Reset()
	return requests, sent
}

// A probe is a request that two servers may read differently.
type probe struct {
	name, text string
	passes     bool // may reach the upstream, with new framing
}

// smuggled is a request within the place of a body.
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

var probes = []probe{
	{name: "plain", text: "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", passes: true},
	{name: "length and chunks", text: withBody("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nG")},
	{name: "length and chunks, a request behind", text: withBody(fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked", 5+len(smuggled)), "0\r\n\r\n"+smuggled)},
	{name: "two lengths", text: withBody("Content-Length: 4\r\nContent-Length: 0", smuggled)},
	{name: "two equal lengths", text: withBody("Content-Length: 4\r\nContent-Length: 4", "body"), passes: true},
	{name: "lengths in a list", text: withBody("Content-Length: 4, 4", "body")},
	{name: "length with a sign", text: withBody("Content-Length: +4", "body")},
	{name: "length that is negative", text: withBody("Content-Length: -4", "body")},
	{name: "length of letters", text: withBody("Content-Length: 0x4", "body")},
	{name: "unknown coding", text: withBody("Transfer-Encoding: xchunked\r\nContent-Length: 4", "body")},
	{name: "coding behind chunks", text: withBody("Transfer-Encoding: chunked, identity", "0\r\n\r\n")},
	{name: "two codings", text: withBody("Transfer-Encoding: chunked\r\nTransfer-Encoding: cow", "0\r\n\r\n")},
	{name: "coding after a tab", text: withBody("Transfer-Encoding:\tchunked\r\nContent-Length: 4", "0\r\n\r\n")},
	{name: "length and chunks behind PRI", text: "PRI * HTTP/2.0\r\nHost: a\r\n\r\n" + withBody("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n")},
	{name: "coding after \\v", text: withBody("Transfer-Encoding: \x0bchunked\r\nContent-Length: 4", "0\r\n\r\n")},
	{name: "blank before the colon", text: withBody("Transfer-Encoding : chunked\r\nContent-Length: 4", "body")},
	{name: "blank before a name", text: withBody(" Transfer-Encoding: chunked\r\nContent-Length: 4", "body")},
	{name: "folded line", text: withBody("Transfer-Encoding:\r\n chunked\r\nContent-Length: 4", "0\r\n\r\n")},
	{name: "line that ends with LF", text: "POST /x HTTP/1.1\r\nHost: a\nContent-Length: 4\r\n\r\nbody", passes: true},
	{name: "CR within a value", text: "GET /x HTTP/1.1\r\nHost: a\r\nA: b\rContent-Length: 4\r\n\r\n"},
	{name: "NUL within a value", text: "GET /x HTTP/1.1\r\nHost: a\r\nA: b\x00c\r\n\r\n"},
	{name: "NUL within a name", text: "GET /x HTTP/1.1\r\nHost: a\r\nA\x00: b\r\n\r\n"},
	{name: "size of a chunk with a sign", text: withBody("Transfer-Encoding: chunked", "+4\r\nbody\r\n0\r\n\r\n")},
	{name: "size of a chunk too long", text: withBody("Transfer-Encoding: chunked", "00000000000000000004\r\nbody\r\n0\r\n\r\n")},
	{name: "chunk that ends wrongly", text: withBody("Transfer-Encoding: chunked", "4\r\nbodyXX0\r\n\r\n")},
	{name: "no host", text: "GET /x HTTP/1.1\r\n\r\n"},
	{name: "two hosts", text: "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
	{name: "host with a blank", text: "GET /x HTTP/1.1\r\nHost: a b\r\n\r\n"},
	{name: "absolute form", text: "GET http://other/x HTTP/1.1\r\nHost: a\r\n\r\n", passes: true},
	{name: "CONNECT", text: "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", passes: true},
	{name: "no version", text: "GET /x\r\n\r\n"},
	{name: "HTTP/1.1 in lower case", text: "GET /x http/1.1\r\nHost: a\r\n\r\n"},
	{name: "HTTP/9.9", text: "GET /x HTTP/9.9\r\nHost: a\r\n\r\n"},
	{name: "blank in the path", text: "GET /x y HTTP/1.1\r\nHost: a\r\n\r\n"},
	{name: "upgrade to h2c", text: "GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", passes: true},
	{name: "length hidden by Connection", text: withBody("Content-Length: 4\r\nConnection: Content-Length", "body"), passes: true},
	{name: "header of 2 MB", text: "GET /x HTTP/1.1\r\nHost: a\r\nA: " + strings.Repeat("x", 2<<20) + "\r\n\r\n"},
}

func withBody(framing, body string) string {
	return "POST /x HTTP/1.1\r\nHost: a\r\n" + framing + "\r\n\r\n" + body
}

// TestNothingIsSmuggled sends requests that servers may read differently: each is refused, or
// reaches the upstream once, with only one reading.
func TestNothingIsSmuggled(t *testing.T) {
	trial(t)
	up := record(t)
	c := newConfigured(t, peer{url: "http://" + up.address})
	c.write(t, "")
	c.start(t)
	p := c.peer
	tb := newTable(t, "requests that two servers may read in two ways", "probe", "answer", "reached the upstream")
	for _, probe := range probes {
		t.Run(probe.name, func(t *testing.T) {
			up.take()
			answer := say(t, p, probe.text)
			requests, sent := up.take()
			tb.row(probe.name, answer, requests)
			if requests > 1 || requests == 1 && !probe.passes {
				t.Errorf("the upstream saw %d requests:\n%q", requests, sent)
			}
			if strings.Contains(sent, "/smuggled") {
				t.Errorf("the upstream saw the request within:\n%q", sent)
			}
			for _, complaint := range ambiguous(sent) {
				t.Errorf("%s:\n%q", complaint, sent)
			}
		})
	}
}

// say sends the text and returns the status line of the answer, once the connection is silent
// or closed.
func say(t *testing.T, p peer, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.WriteString(conn, text)
	_ = conn.SetReadDeadline(time.Now().Add(400 * time.Millisecond)) // long enough for an answer to a second request
	response, err := io.ReadAll(conn)
	line, _, _ := strings.Cut(string(response), "\r\n")
	switch {
	case line != "":
		return line
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silence"
	default:
		return "closed"
	}
}

// ambiguous lists the faults in a request's framing.
func ambiguous(sent string) (complaints []string) {
	header, _, _ := strings.Cut(sent, "\r\n\r\n")
	counts := map[string]int{}
	for i, line := range strings.Split(header, "\r\n") {
		if strings.ContainsAny(line, "\r\n\x00") {
			complaints = append(complaints, "a line has a control character")
		}
		name, _, _ := strings.Cut(line, ":")
		if i > 0 && (name == "" || strings.ContainsAny(name, " \t")) {
			complaints = append(complaints, "a name has a blank")
		}
		counts[strings.ToLower(name)]++
	}
	if header != "" && counts["host"] != 1 {
		complaints = append(complaints, "not one host")
	}
	if counts["content-length"]+counts["transfer-encoding"] > 1 {
		complaints = append(complaints, "more than one length")
	}
	return complaints
}
