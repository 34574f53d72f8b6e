package proxy

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// frame returns an HTTP/2 frame.
func frame(kind, flags byte, stream uint32, payload string) string {
	head := []byte{0, byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return string(head) + payload
}

// Types and flags of frames (RFC 9113, 6).
const (
	data, headers, reset, settings = 0, 1, 3, 4
	endStream, endHeaders          = 1, 4
)

// fields returns the header fields of GET http://h/x with one of them changed, followed by
// more: names and values in turn.
func fields(name, value string, more ...string) []string {
	all := []string{":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/x"}
	if i := slices.Index(all, name); i >= 0 {
		all[i+1] = value
	}
	return append(all, more...)
}

func more(fieldsBehind ...string) []string { return fields("", "", fieldsBehind...) }

// HTTP/2 requests end where their frames say, and a request that HTTP/1 cannot express is
// never forwarded. No probe counts as a failure of the upstream.
func TestProbesOfHTTP2(t *testing.T) {
	up := record(t)
	p := start(t, file(up.address, "compartments: {api: {breaker: {failures: 1}}}"))
	for _, c := range []struct {
		name     string
		fields   []string
		body     string
		answer   string
		upstream string
	}{
		{"a sound one", more(), "hello", "200", "GET /x hello"},
		{"chunks", more("transfer-encoding", "chunked"), "0\r\n\r\n", "400", ""},
		{"a length", more("content-length", "5"), "hello", "200", "GET /x hello"},
		{"a length that is too short", more("content-length", "4"), "hello", "reset", ""},
		{"a length that is too long", more("content-length", "6"), "hello", "400", ""},
		{"a length with a sign", more("content-length", "+5"), "", "200", "GET /x"},
		{"two lengths", more("content-length", "5", "content-length", "0"), "hello", "200", "GET /x hello"},
		{"a header of the connection", more("connection", "x"), "", "400", ""},
		{"an upgrade", more("upgrade", "x"), "", "400", ""},
		{"another host", more("host", "g"), "", "200", "GET /x"},
		{"capitals in a name", more("Foo", "b"), "", "reset", ""},
		{"a line end in a name", more("a\r\nb", "c"), "", "reset", ""},
		{"a colon in a name", more("transfer-encoding:", "chunked"), "", "reset", ""},
		{"a blank in a name", more("transfer-encoding ", "chunked"), "", "reset", ""},
		{"no name", more("", "b"), "", "reset", ""},
		{"a line end in a value", more("a", "b\r\nTransfer-Encoding: chunked"), "", "reset", ""},
		{"a zero byte in a value", more("a", "b\x00"), "", "reset", ""},
		{"an announcement of what may not be", more("trailer", "a b, content-length"), "hello", "200", "GET /x hello"},

		{"a line in the method", fields(":method", "GET /y HTTP/1.1"), "", "400", ""},
		{"a line end in the method", fields(":method", "GET\r\n"), "", "reset", ""},
		{"a method that begins HTTP/2", fields(":method", "PRI"), "", "400", ""},
		{"no method", fields(":method", ""), "", "reset", ""},
		{"another scheme", fields(":scheme", "file"), "", "reset", ""},
		{"a URL as the scheme", fields(":scheme", "http://g/"), "", "reset", ""},
		{"a blank in the host", fields(":authority", "h g"), "", "400", ""},
		{"a path in the host", fields(":authority", "h/y"), "", "400", ""},
		{"a name in the host", fields(":authority", "a@h"), "", "reset", ""},
		{"a line end in the host", fields(":authority", "h\r\nA: b"), "", "reset", ""},
		{"a line in the path", fields(":path", "/x HTTP/1.1\r\nHost: g\r\n\r\n"), "", "reset", ""},
		{"a blank in the path", fields(":path", "/x y"), "", "200", "GET /x%20y"},
		{"a path without a slash", fields(":path", "x"), "", "reset", ""},
		{"no path", fields(":path", ""), "", "reset", ""},
		{"two paths", append([]string{":path", "/y"}, more()...), "", "reset", ""},
		{"a path behind a header", append(more()[:6], "a", "b", ":path", "/x"), "", "reset", ""},
		{"a field of responses", append([]string{":status", "200"}, more()...), "", "reset", ""},
	} {
		answer := p.ask2(c.fields, c.body)
		requests, sent := up.take()
		if answer != c.answer || requests != c.upstream {
			t.Errorf("%s: answer %q, want %q; the upstream has %q, want %q", c.name, answer, c.answer, requests, c.upstream)
		}
		lower := strings.ToLower(sent)
		if strings.Count(lower, "\ncontent-length:")+strings.Count(lower, "\ntransfer-encoding:") > 1 {
			t.Errorf("%s: the upstream may read this in two ways: %q", c.name, sent)
		}
	}
	if s := p.Snapshot().ByKey["api"]; s.Failed > 0 {
		t.Errorf("%d failures of the upstream", s.Failed)
	}
}

// ask2 sends an HTTP/2 request and returns the answer: a status, or a reset of its stream.
func (r *running) ask2(fields []string, body string) string {
	r.t.Helper()
	conn := must.Have(net.Dial("tcp", r.address))(r.t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	var block strings.Builder // of literals (RFC 7541, 6.2.2)
	for i, field := range fields {
		if i%2 == 0 {
			block.WriteString("\x00")
		}
		block.WriteString(string([]byte{byte(len(field))}) + field)
	}
	text := "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, 0, 0, "")
	if body == "" {
		text += frame(headers, endHeaders|endStream, 1, block.String())
	} else {
		text += frame(headers, endHeaders, 1, block.String()) + frame(data, endStream, 1, body)
	}
	go io.WriteString(conn, text) // fails if the proxy has closed
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(conn, head); err != nil {
			r.t.Fatalf("%q: %v", fields, err)
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			r.t.Fatalf("%q: %v", fields, err)
		}
		switch head[3] {
		case headers: // the status is the first field; a usual one has one byte (RFC 7541, A)
			if status, usual := map[byte]string{0x88: "200", 0x8c: "400"}[payload[0]]; usual {
				return status
			}
			return "another status"
		case reset:
			return "reset"
		}
	}
}
