package proxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

// A probe is a text from one client and its expected results. answers are the statuses, and
// upstream holds the requests that arrive there. end is the status of the request after the
// probe, which is answered if the connection stays open.
type probe struct{ name, text, answers, upstream string }

const (
	within = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n" // in the place of a body
	zero   = "0\r\n\r\n"
	end    = " end"
)

func post(framing, body string) string {
	return "POST /x HTTP/1.1\r\nHost: h\r\n" + framing + "\r\n\r\n" + body
}

func chunks(text string) string { return post("Transfer-Encoding: chunked", text) }

func probes() []probe {
	const both = "Content-Length: 5\r\nTransfer-Encoding: chunked"
	return []probe{
		{"length and chunks", post(both, zero+within), "400", ""},
		{"chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 5", zero+within), "400", ""},
		{"no length and chunks", post("Content-Length: 0\r\nTransfer-Encoding: chunked", zero+within), "400", ""},
		{"length and an unknown coding", post("Content-Length: 5\r\nTransfer-Encoding: x", "hello"), "400", ""},
		{"capitals", post("CONTENT-LENGTH: 5\r\nTRANSFER-ENCODING: CHUNKED", zero+within), "400", ""},
		{"behind a sound request", post("Content-Length: 5", "hello") + post(both, zero+within), "200 400", "POST /x hello"},
		{"behind chunks", chunks("5\r\nhello\r\n0\r\n\r\n") + post(both, zero+within), "200 400", "POST /x hello"},
		{"behind PRI", "PRI * HTTP/2.0\r\nHost: h\r\n\r\n" + post(both, zero+within), "400", ""},
		{"a preface behind a request", chunks(zero) + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + within, "200 400", "POST /x"},
		{"behind half a preface", "PRI * HTTP/2.0\r\n\r\n" + post(both, zero+within), "400", ""},
		{"chunks of HTTP/1.0", "POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + zero + within, "400", ""},
		{"chunks of HTTP/1.0 that stays", "POST /x HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + zero + within, "400", ""},

		{"an unknown coding", post("Transfer-Encoding: xchunked", zero), "501", ""},
		{"two codings", post("Transfer-Encoding: gzip, chunked", zero), "501", ""},
		{"a coding behind chunks", post("Transfer-Encoding: chunked, identity", zero), "501", ""},
		{"two lines of codings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x", zero), "501", ""},
		{"chunks twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", zero), "501", ""},
		{"identity", post("Transfer-Encoding: identity", "hello"), "501", ""},
		{"no coding", post("Transfer-Encoding:", zero), "501", ""},
		{"a coding in a list", post("Transfer-Encoding: , chunked", zero), "501", ""},
		{"a coding in quotes", post("Transfer-Encoding: \"chunked\"", zero), "501", ""},
		{"a coding with a parameter", post("Transfer-Encoding: chunked;q=1", zero), "501", ""},
		{"a coding in capitals", post("Transfer-Encoding: CHUNKED", zero), "200" + end, "POST /x"},
		{"a coding after a tab", post("Transfer-Encoding:\tchunked", zero), "200" + end, "POST /x"},
		{"a coding before blanks", post("Transfer-Encoding: chunked \t", zero), "200" + end, "POST /x"},
		{"a coding after \\v", post("Transfer-Encoding: \vchunked", zero), "400", ""},
		{"a coding in the next line", post("Transfer-Encoding:\r\n chunked", zero), "400", ""},
		{"a blank before the colon", post("Transfer-Encoding : chunked", zero), "400", ""},
		{"a tab before the colon", post("Transfer-Encoding\t: chunked", zero), "400", ""},
		{"a blank before the first name", "POST /x HTTP/1.1\r\n Transfer-Encoding: chunked\r\nHost: h\r\n\r\n" + zero, "400", ""},
		{"a tab before a name", post("Content-Length: 5\r\n\tTransfer-Encoding: chunked", "hello"), "400", ""},
		{"a name within another header", post("A: b\r\n Transfer-Encoding: chunked", ""), "200" + end, "POST /x"},
		{"a name with an underscore", post("Content-Length: 5\r\nTransfer_Encoding: chunked", "hello"), "200" + end, "POST /x hello"},
		{"a name that Connection lists", post("Connection: Content-Length\r\nContent-Length: 5", "hello"), "200" + end, "POST /x hello"},

		{"two lengths", post("Content-Length: 5\r\nContent-Length: 0", within), "400", ""},
		{"the same length twice", post("Content-Length: 5\r\nContent-Length: 5", "hello"), "200" + end, "POST /x hello"},
		{"lengths in a list", post("Content-Length: 5, 5", "hello"), "400", ""},
		{"a length with a plus", post("Content-Length: +5", "hello"), "400", ""},
		{"a length with a minus", post("Content-Length: -5", "hello"), "400", ""},
		{"a hexadecimal length", post("Content-Length: 0x5", "hello"), "400", ""},
		{"a length in two words", post("Content-Length: 5 5", "hello"), "400", ""},
		{"a length beyond 63 bits", post("Content-Length: 9223372036854775808", "hello"), "400", ""},
		{"an empty length", post("Content-Length:", "hello"), "400", ""},
		{"a length in the next line", post("Content-Length:\r\n 5", "hello"), "400", ""},
		{"the length of a GET", "GET /x HTTP/1.1\r\nHost: h\r\nContent-Length: 35\r\n\r\n" + within, "200" + end, "GET /x " + strings.TrimSpace(within)},

		{"an extension of a chunk", chunks("5;a=b\r\nhello\r\n0;c\r\n\r\n"), "200" + end, "POST /x hello"},
		{"a line within an extension", chunks("5;a=\"\r\n\"\r\nhello\r\n" + zero), "400", ""},
		{"LF within an extension", chunks("5;a\nb\r\nhello\r\n" + zero), "400", ""},
		{"CR within an extension", chunks("5;a\rb\r\nhello\r\n" + zero), "400", ""},
		{"LF after a size", chunks("5\nhello\r\n" + zero), "400", ""},
		{"LF after a chunk", chunks("5\r\nhello\n" + zero), "400", ""},
		{"LF after the last chunk", chunks("0\n\n"), "400", ""},
		{"a chunk that is longer than its size", chunks("2\r\nhello\r\n" + zero), "400", ""},
		{"a chunk without its end", chunks("5\r\nhello" + zero), "400", ""},
		{"a size with a plus", chunks("+5\r\nhello\r\n" + zero), "400", ""},
		{"a size with a minus", chunks("-5\r\nhello\r\n" + zero), "400", ""},
		{"a size with 0x", chunks("0x5\r\nhello\r\n" + zero), "400", ""},
		{"a size after a blank", chunks(" 5\r\nhello\r\n" + zero), "400", ""},
		{"a size with a zero before it", chunks("05\r\nhello\r\n00\r\n\r\n"), "200" + end, "POST /x hello"},
		{"a size beyond 64 bits", chunks("10000000000000005\r\nhello\r\n" + zero), "400", ""},
		{"a size of twenty digits", chunks("00000000000000000005\r\nhello\r\n" + zero), "400", ""},
		{"a size of letters", chunks("xyz\r\n" + within), "400", ""},
		{"a size of no digit", chunks("\r\nhello\r\n" + zero), "400", ""},
		{"a length among the trailers", post("Trailer: B\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n0\r\nContent-Length: 5\r\nB: c\r\n\r\n"), "200" + end, "POST /x hello"},
		{"a trailer with a blank in its name", post("Trailer: B\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n0\r\nA : b\r\nB: c\r\n\r\n"), "200" + end, "POST /x hello"},
		{"an announcement of no name", post("Trailer: A B\r\nTransfer-Encoding: chunked", zero), "200" + end, "POST /x"},
		{"a zero byte in a trailer", post("Trailer: B\r\nTransfer-Encoding: chunked", "0\r\nB: \x00\r\n\r\n"), "400", ""},

		{"LF alone", "GET /x HTTP/1.1\nHost: h\n\n", "200" + end, "GET /x"},
		{"LF alone, length and chunks", "POST /x HTTP/1.1\nHost: h\nContent-Length: 5\nTransfer-Encoding: chunked\n\n" + zero + within, "400", ""},
		{"CR alone", "GET /x HTTP/1.1\r\nHost: h\r\nA: b\rTransfer-Encoding: chunked\r\n\r\n", "400", ""},
		{"a zero byte in a value", "GET /x HTTP/1.1\r\nHost: h\r\nA: b\x00\r\n\r\n", "400", ""},
		{"a zero byte in a name", "GET /x HTTP/1.1\r\nHost: h\r\nA\x00: b\r\n\r\n", "400", ""},
		{"a zero byte in the path", "GET /x\x00 HTTP/1.1\r\nHost: h\r\n\r\n", "400", ""},
		{"a line without a colon", "GET /x HTTP/1.1\r\nHost: h\r\nA\r\n\r\n", "400", ""},
		{"an empty name", "GET /x HTTP/1.1\r\nHost: h\r\n: b\r\n\r\n", "400", ""},

		{"two hosts", "GET /x HTTP/1.1\r\nHost: h\r\nHost: g\r\n\r\n", "400", ""},
		{"no host", "GET /x HTTP/1.1\r\n\r\n", "400", ""},
		{"a host with a blank", "GET /x HTTP/1.1\r\nHost: h g\r\n\r\n", "400", ""},
		{"absolute form", "GET http://h/x HTTP/1.1\r\nHost: g\r\n\r\n", "200" + end, "GET /x"},
		{"absolute form of a file", "GET file:///x HTTP/1.1\r\nHost: h\r\n\r\n", "400" + end, ""},
		{"absolute form of FTP", "GET ftp://h/x HTTP/1.1\r\nHost: h\r\n\r\n", "400" + end, ""},
		{"absolute form with another character", "GET http://h<g/x HTTP/1.1\r\nHost: h\r\n\r\n", "400" + end, ""},
		{"absolute form with a host that is not ASCII", "GET http://h\xc3\xa4/x HTTP/1.1\r\nHost: h\r\n\r\n", "400" + end, ""},
		{"a URL within another one", "GET x:http://other/secret HTTP/1.1\r\nHost: h\r\n\r\n", "400" + end, ""},
		{"a URL without slashes", "GET x:secret HTTP/1.1\r\nHost: h\r\n\r\n", "400" + end, ""},
		{"a URL with an encoded slash", "GET x:%2fsecret HTTP/1.1\r\nHost: h\r\n\r\n", "400" + end, ""},
		{"no form", "GET x HTTP/1.1\r\nHost: h\r\n\r\n", "400", ""},
		{"no version", "GET /x\r\n\r\n", "400", ""},
		{"a version in small letters", "GET /x http/1.1\r\nHost: h\r\n\r\n", "400", ""},
		{"a version that is not known", "GET /x HTTP/9.9\r\nHost: h\r\n\r\n", "505", ""},
		{"another version", "GET /x HTTP/2.0\r\nHost: h\r\n\r\n", "505", ""},
		{"a blank in the path", "GET /x y HTTP/1.1\r\nHost: h\r\n\r\n", "400", ""},
		{"two blanks in the first line", "GET /x  HTTP/1.1\r\nHost: h\r\n\r\n", "400", ""},
		{"a tab in the first line", "GET\t/x HTTP/1.1\r\nHost: h\r\n\r\n", "400", ""},
		{"CONNECT", "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n", "405" + end, ""},
		{"a method that is no token", "G@T /x HTTP/1.1\r\nHost: h\r\n\r\n", "400", ""},
		{"encoded line ends in the path", "GET /x%0d%0aA:%20b HTTP/1.1\r\nHost: h\r\n\r\n", "200" + end, "GET /x%0d%0aA:%20b"},
	}
}

// Each probe is refused, and its connection closed if its end is ambiguous; or it reaches the
// upstream once, as a request with only one reading. No probe counts as a failure of the
// upstream. A probe that arrives byte by byte has the same result.
func TestProbes(t *testing.T) {
	up := record(t)
	p := start(t, file(up.address, "compartments: {api: {breaker: {failures: 1}}}"))
	for i, c := range append(probes(), probes()...) {
		text, piece := c.text+"GET /end HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 1
		if i < len(probes()) {
			piece = len(text)
		}
		answers := p.say(text, piece)
		requests, sent := up.take()
		requests, behind := strings.CutSuffix(requests, "GET /end")
		if requests = strings.TrimSuffix(requests, ", "); behind {
			answers = strings.TrimSuffix(answers, " 200") + end
		}
		if answers != c.answers || requests != c.upstream {
			t.Errorf("%s, in pieces of %d: answers %q, want %q; the upstream has %q, want %q", c.name, piece, answers, c.answers, requests, c.upstream)
		}
		lower := strings.ToLower(sent)
		if strings.Count(lower, "\ncontent-length:")+strings.Count(lower, "\ntransfer-encoding:") > 1 || strings.Count(sent, "\n") != strings.Count(sent, "\r\n") {
			t.Errorf("%s: the upstream may read this in two ways: %q", c.name, sent)
		}
	}
	if s := p.Snapshot().ByKey["api"]; s.Failed > 0 {
		t.Errorf("%d failures of the upstream", s.Failed)
	}
}

// say sends text in pieces of so many bytes, and returns the statuses of the answers once the
// connection is closed.
func (r *running) say(text string, piece int) string {
	r.t.Helper()
	conn := must.Have(net.Dial("tcp", r.address))(r.t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		for part := range slices.Chunk([]byte(text), piece) {
			_, _ = conn.Write(part) // fails if the proxy has closed
		}
	}()
	var statuses []string
	for answers := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(answers, nil)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			r.t.Fatalf("%q: no end", text)
		}
		if err != nil {
			return strings.Join(statuses, " ")
		}
		statuses = append(statuses, res.Status[:3])
		_, _ = io.Copy(io.Discard, res.Body)
	}
}

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
	text := preface + frame(settings, 0, 0, "")
	if body == "" {
		text += frame(headers, endHeaders|endStream, 1, block.String())
	} else {
		text += frame(headers, endHeaders, 1, block.String()) + frame(data, endStream, 1, body)
	}
	go io.WriteString(conn, text) // fails if the proxy has closed
	for {
		kind, _, _, payload, err := readFrame(conn)
		if err != nil {
			r.t.Fatalf("%q: %v", fields, err)
		}
		switch kind {
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
