package exchange

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Trailers of a buffered body reach the upstream, wherever the body waited. An unannounced
// trailer may be dropped after a streamed body (RFC 9110, section 6.5.1).
func TestTrailersOfBufferedBodies(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for size, streams := range map[int]bool{10: false, 64 << 10: false, 200_000: false, 2 * mebibyte: true} {
			for _, announced := range []string{"", "Trailer: After\r\n"} {
				if streams && announced == "" {
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
				res.Body.Close()
				conn.Close()
				rg.idle()
			}
		}
	}
}
