package listen

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// A running request does not end because an ambiguous head follows it.
func TestRequestBeforeAnAmbiguousHead(t *testing.T) {
	const bad = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
	begun := make(chan struct{})
	l := start(t, func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		c := connOf(r.Context())
		must.Happen(t, "all is read", func() bool { return c.received.Load() == uint64(len(get+bad+get)) || r.Context().Err() != nil })
		if err := r.Context().Err(); err != nil {
			t.Errorf("the request before has ended: %v", err)
		}
	}, nil)
	conn, answers := dial(t, l, get+bad)
	<-begun
	_, _ = io.WriteString(conn, get)
	for _, want := range []int{200, 400, 0} {
		if status, _ := answer(t, answers); status != want {
			t.Errorf("status %d, want %d", status, want)
		}
	}
}

// Heads within TLS are checked as in cleartext.
func TestSmugglingWithinTLS(t *testing.T) {
	s := startTLS(t, hello, nil)
	for _, text := range []string{
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get,
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n 5\r\n\r\nhello" + get,
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n 5\r\nA: b\r\n c\r\n\r\nhello" + get,
		"GET file:///etc/passwd HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
	} {
		conn, _ := dial(t, s.Listener, "")
		secure := tls.Client(conn, &tls.Config{RootCAs: s.signed.Pool(), ServerName: "127.0.0.1"})
		_, _ = io.WriteString(secure, text)
		answers := bufio.NewReader(secure)
		for _, want := range []int{http.StatusBadRequest, 0} {
			if status, _ := answer(t, answers); status != want {
				t.Errorf("%q: status %d, want %d, 0 for the end", text, status, want)
			}
		}
	}
}

// Bodies, and data after an upgrade, may look like heads.
func TestBodiesThatLookLikeHeads(t *testing.T) {
	const bad = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != bad {
			t.Errorf("%q, %v", body, err)
		}
	}, nil)
	_, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 75\r\n\r\n"+bad+
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4b\r\n"+bad+"\r\n0\r\n\r\n")
	for range 2 {
		if status, _ := answer(t, answers); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}

	got := make(chan string, 1)
	l = start(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		page := make([]byte, len(bad))
		_, _ = io.ReadFull(rw, page)
		got <- string(page)
	}, nil)
	conn, answers := dial(t, l, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	must.Have(http.ReadResponse(answers, nil))(t)
	_, _ = io.WriteString(conn, bad)
	if text := <-got; text != bad {
		t.Errorf("after the upgrade %q", text)
	}
}

// Trailers that a transport refuses to send, or a server to read, are dropped, announced or not.
func TestTrailersThatMayNotBe(t *testing.T) {
	l := start(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if len(r.Trailer) != 1 || r.Trailer.Get("Sum") != "2" {
			t.Errorf("trailers %q", r.Trailer)
		}
	}, nil)
	_, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nTrailer: A B, Sum, TE, If-Match\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"5\r\nhello\r\n0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nTrailer: y\r\nHost: g\r\nTE: x\r\nAuthorization: z\r\nIf-Match: 1\r\nA : b\r\nSum: 2\r\n\r\n")
	if status, _ := answer(t, answers); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

func TestUnderscores(t *testing.T) {
	for _, pass := range []bool{false, true} {
		l := start(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, header := r.Header["X_forwarded_for"]
			_, trailer := r.Trailer["X_sum"]
			if header != pass || trailer != pass || r.Header.Get("X-Kept") == "" || r.Trailer.Get("Sum") == "" {
				t.Errorf("may pass %v: header %v, trailer %v", pass, r.Header, r.Trailer)
			}
		}, func(c *config.Listener) { c.Underscores = pass })
		_, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nX_Forwarded_For: 10.0.0.1\r\nX-Kept: yes\r\nTrailer: X_Sum, Sum\r\n"+
			"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX_Sum: 1\r\nSum: 2\r\n\r\n")
		if status, _ := answer(t, answers); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
}

// FuzzFraming reads each input whole and byte by byte, with the same result. If an input
// passes, net/http serves no request in it with both a length and chunks. If the input holds
// only whole requests, framing ends in the state before a request.
func FuzzFraming(f *testing.F) {
	for _, seed := range []string{
		get, get + get, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello" + get,
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\nA: b\r\n\r\n" + get,
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"PRI * HTTP/2.0\r\nHost: h\r\n\r\nPOST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var whole, bytewise framing
		passed, slow := whole.scan(input), 0
		for slow < len(input) && bytewise.scan(input[slow:slow+1]) == 1 {
			slow++
		}
		if slow != passed {
			t.Fatalf("%d bytes pass at once, %d one by one", passed, slow)
		}
		if passed < len(input) {
			return
		}
		sent := bytes.NewReader(input)
		requests := bufio.NewReader(sent)
		for {
			at := len(input) - sent.Len() - requests.Buffered()
			r, err := http.ReadRequest(requests)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || r.Method == "PRI" { // the last request on its connection
				return
			}
			head := bytes.ToLower(input[at : len(input)-sent.Len()-requests.Buffered()])
			if bytes.Contains(head, []byte("\ncontent-length:")) && bytes.Contains(head, []byte("\ntransfer-encoding:")) {
				t.Fatalf("served: %q", head)
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
		}
		if whole.step != requestLine || whole.body > 0 {
			t.Errorf("at step %d, before %d bytes, where net/http has read all", whole.step, whole.body)
		}
	})
}

func BenchmarkFraming(b *testing.B) {
	head := []byte("GET /path HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\n" +
		"Accept: text/html,application/xhtml+xml\r\nAccept-Language: en\r\nAccept-Encoding: gzip, deflate, br\r\nCookie: a=b; c=d\r\n\r\n")
	var f framing
	for b.Loop() {
		f.scan(head)
	}
}
