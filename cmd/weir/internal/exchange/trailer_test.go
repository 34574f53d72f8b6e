package exchange

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Trailers of a buffered body reach the upstream, wherever the body waited. An unannounced
// trailer may be dropped after a streamed body (RFC 9110, section 6.5.1). None ends the connection.
func TestTrailersOfBufferedBodies(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for size, streams := range map[int]bool{10: false, 64 << 10: false, 200_000: false, 2 * mebibyte: true} {
			for _, announced := range []string{"", "Trailer: After\r\n", "Trailer: Other\r\n"} {
				if streams && announced != "Trailer: After\r\n" {
					continue
				}
				rg := newRig(t, 4, h2c, echo, nil)
				conn, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" + announced + "\r\n")
				go fmt.Fprintf(conn, "%x\r\n%s\r\n0\r\nAfter: all\r\n\r\n", size, strings.Repeat("x", size))
				res, err := http.ReadResponse(answers, nil)
				if err != nil {
					t.Errorf("h2c %v, %d bytes, %q: %v", h2c, size, announced, err)
					continue
				}
				if got := res.Header.Get("Got-Trailer"); res.StatusCode != 200 || got != "all" {
					t.Errorf("h2c %v, %d bytes, %q: status %d, trailer %q", h2c, size, announced, res.StatusCode, got)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
				if _, err := http.ReadResponse(answers, nil); err != nil {
					t.Errorf("h2c %v, %d bytes, %q: the connection does not go on: %v", h2c, size, announced, err)
				}
				conn.Close()
				rg.idle()
			}
		}
	}
}
