package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Trailers pass. An unannounced trailer may be dropped (RFC 9110, section 6.5.1), but must
// end neither the request nor the connection.
func TestTrailersPass(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, r.Trailer.Get("After"))
	}))
	t.Cleanup(upstream.Close)
	p := start(t, fmt.Sprintf("upstreams: {api: {addresses: [%q]}}\n", upstream.URL))
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	answers := bufio.NewReader(conn)
	for _, announced := range []string{"Trailer: After\r\n", "", "Trailer: Other\r\n"} {
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n%s\r\n4\r\nbody\r\n0\r\nAfter: all\r\n\r\n", announced)
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%q: %v", announced, err)
		}
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusOK || announced != "" && string(body) != "all" {
			t.Errorf("%q: status %d, trailer %q", announced, res.StatusCode, body)
		}
	}
}
