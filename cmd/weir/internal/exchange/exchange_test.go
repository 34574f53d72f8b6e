package exchange

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
)

func TestBodiesArriveWhole(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for _, known := range []bool{false, true} {
			for _, size := range []int{0, 1, 4095, 4096, 4097, 64 << 10, 64<<10 + 1, 100_000, 1 << 20} {
				t.Run(fmt.Sprint("h2c ", h2c, " known ", known, " ", size), func(t *testing.T) {
					rg := newRig(t, 10, h2c, echo, func(c *config.Config, _ *config.Route) { c.Buffers.File = 50_000 })
					text := strings.Repeat("0123456789", size/10+1)[:size]
					body := io.Reader(strings.NewReader(text))
					if !known {
						body = io.MultiReader(body)
					}
					req, _ := http.NewRequest(http.MethodPost, rg.front.URL, body)
					res := must.Have(rg.client(h2c).Do(req))(t)
					defer res.Body.Close()
					got, err := io.ReadAll(res.Body)
					if err != nil || string(got) != text {
						t.Errorf("got %d bytes, error %v", len(got), err)
					}
					streams := size > 64<<10+50_000
					want := fmt.Sprint(size)
					if !known && streams {
						want = "-1"
					}
					if got := res.Header.Get("Got-Length"); got != want {
						t.Errorf("the upstream was told a length of %s, want %s", got, want)
					}
					rg.idle()
					streamed := uint64(0)
					if streams {
						streamed = 1
					}
					if c := rg.shared.Counts(); c.Streamed != streamed {
						t.Errorf("%d streams, want %d", c.Streamed, streamed)
					}
				})
			}
		}
	}
}

func TestResponsesArriveWhole(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		for _, length := range []string{"", "1"} {
			for _, size := range []int{0, 1, 4096, 64 << 10, 200_000, 1 << 20} {
				t.Run(fmt.Sprint("h2c ", h2c, " length ", length, " ", size), func(t *testing.T) {
					rg := newRig(t, 10, h2c, say, nil)
					status, got, err := read(rg.client(h2c).Get(fmt.Sprint(rg.front.URL, "?size=", size, "&length=", length)))
					if err != nil || status != 200 || got != strings.Repeat("x", size) {
						t.Errorf("status %d, %d bytes, error %v", status, len(got), err)
					}
					rg.taught(limittest.Taught{Succeeded: 1})
					exchanged := uint64(0)
					if size > 64<<10 {
						exchanged = 1
					}
					if c := rg.shared.Counts(); c.Exchanged != exchanged || c.Answered["2xx"] != 1 {
						t.Errorf("%+v, want %d exchanged", c, exchanged)
					}
				})
			}
		}
	}
}

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
