package exchange

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// The sizes at which a body in these tests leaves memory, and the file.
const (
	inMemory = 64 << 10
	inFile   = inMemory + 100_000
)

func small(c *config.Config, _ *config.Route) { c.Buffers.File = inFile - inMemory }

// left holds the state that a test must restore.
type left struct {
	rg         *rig
	folder     string
	goroutines int
}

func newLeft(t *testing.T, upstream http.HandlerFunc) *left {
	l := new(left)
	l.goroutines = runtime.NumGoroutine()
	l.rg = newRig(t, 8, false, upstream, func(c *config.Config, r *config.Route) {
		small(c, r)
		l.folder = c.Buffers.Directory
	})
	return l
}

// nothing checks that no slot, byte, file or goroutine is left.
func (l *left) nothing(t *testing.T) {
	t.Helper()
	l.rg.idle()
	if names, err := os.ReadDir(l.folder); err != nil || len(names) != 0 {
		t.Errorf("files %v, error %v", names, err)
	}
	l.rg.front.CloseClientConnections()
	l.rg.upstream.CloseClientConnections()
	const servers = 4 // the goroutines of both listeners, and ones that net/http has just ended
	l.rg.until("the goroutines are gone", func() bool { return runtime.NumGoroutine() <= l.goroutines+servers })
}

// framed returns the head of a POST with the length, or in chunks, and a function that frames
// a piece of its body.
func framed(length int, chunked bool) (head string, piece func(string) string) {
	if chunked {
		return "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", func(s string) string {
			if s == "" {
				return ""
			}
			return fmt.Sprintf("%x\r\n%s\r\n", len(s), s)
		}
	}
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", length), func(s string) string { return s }
}

// If a client stops in the middle of a body, wherever the proxy keeps it, nothing leaks, and
// no upstream takes the partial body for a whole one.
func TestClientsThatStopWithinABody(t *testing.T) {
	for how, stop := range map[string]func(*net.TCPConn){
		"closes":      func(c *net.TCPConn) { c.Close() },
		"resets":      func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() },
		"half closes": func(c *net.TCPConn) { _ = c.CloseWrite() },
		"stalls":      func(*net.TCPConn) {},
	} {
		t.Run(how, func(t *testing.T) {
			var whole atomic.Int64
			l := newLeft(t, func(_ http.ResponseWriter, r *http.Request) {
				if _, err := io.Copy(io.Discard, r.Body); err == nil {
					whole.Add(1)
				}
			})
			var requests uint64
			for _, chunked := range []bool{false, true} {
				for _, size := range []int{
					0, 1, firstChunk - 1, firstChunk, inMemory - 1, inMemory, inMemory + 1,
					inMemory + copySize, inFile - 1, inFile, inFile + 1, inFile + 200_000,
				} {
					for _, more := range []int{1, 1_000_000} { // announced bytes
						head, piece := framed(size+more, chunked)
						conn, answers := l.rg.dial(head)
						_, _ = io.WriteString(conn, piece(strings.Repeat("x", size)))
						requests++
						l.rg.until("it has come", func() bool { return l.rg.shared.Counts().Received == requests })
						stop(conn.(*net.TCPConn))
						if how == "half closes" {
							if res, err := http.ReadResponse(answers, nil); err == nil && res.StatusCode < 400 {
								t.Errorf("chunked %v, %d bytes of %d: status %d", chunked, size, size+more, res.StatusCode)
							}
							conn.Close()
						}
						if how == "stalls" && requests%8 == 0 { // as many as may fill the limit
							l.rg.front.CloseClientConnections()
						}
					}
				}
			}
			if how == "stalls" {
				l.rg.front.CloseClientConnections()
			}
			l.nothing(t)
			if n := whole.Load(); n != 0 {
				t.Errorf("%d halves passed for whole bodies", n)
			}
			if s := l.rg.lim.Snapshot(); s.Failed+s.TimedOut != 0 {
				t.Errorf("the clients' mistakes are failures: %+v", s)
			}
		})
	}
}

// Bytes beyond the length of a body are not part of it, and are no request either.
func TestMoreThanTheLength(t *testing.T) {
	var asked atomic.Int64
	l := newLeft(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	})
	sizes := []int{0, 1, inMemory, inMemory + 1, inFile, inFile + 1, inFile + 200_000}
	for _, size := range sizes {
		conn, answers := l.rg.dial(fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", size))
		_, _ = io.WriteString(conn, strings.Repeat("x", size)+"GET\r\n\r\n")
		res := must.Have(http.ReadResponse(answers, nil))(t)
		body, _ := io.ReadAll(res.Body)
		if want := fmt.Sprint(size, error(nil)); res.StatusCode != 200 || string(body) != want {
			t.Errorf("%d bytes: status %d, %q, want %q", size, res.StatusCode, body, want)
		}
		if res, err := http.ReadResponse(answers, nil); err == nil && res.StatusCode != http.StatusBadRequest {
			t.Errorf("%d bytes: status %d for the rest", size, res.StatusCode)
		}
		conn.Close()
	}
	l.nothing(t)
	if n := asked.Load(); n != int64(len(sizes)) {
		t.Errorf("the upstream was asked %d times, want %d", n, len(sizes))
	}
}

// An upstream may answer before it reads the body, or without reading it. The client gets the
// answer, and the slot is released, wherever the body waited.
func TestUpstreamsThatAnswerBeforeTheBody(t *testing.T) {
	for how, answer := range map[string]http.HandlerFunc{
		"and go on": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"and close": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusForbidden)
		},
		"and read it then": func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			w.WriteHeader(http.StatusForbidden)
			_ = http.NewResponseController(w).Flush()
			_, _ = io.Copy(io.Discard, r.Body)
		},
	} {
		t.Run(how, func(t *testing.T) {
			l := newLeft(t, answer)
			for _, chunked := range []bool{false, true} {
				for _, size := range []int{1, inMemory, inMemory + 1, inFile, inFile + 1, inFile + 2*mebibyte} {
					head, piece := framed(size, chunked)
					conn, answers := l.rg.dial(head)
					go func() {
						_, _ = io.WriteString(conn, piece(strings.Repeat("x", size)))
						if chunked {
							_, _ = io.WriteString(conn, "0\r\n\r\n")
						}
					}()
					res, err := http.ReadResponse(answers, nil)
					if err != nil || res.StatusCode != http.StatusForbidden {
						t.Errorf("chunked %v, %d bytes: %v, %v, want 403", chunked, size, res, err)
					}
					conn.Close()
					l.rg.idle() // an upload holds its client's whole part
				}
			}
			l.nothing(t)
		})
	}
}
