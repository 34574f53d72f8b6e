package listen

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/weirhttp"
)

func sink(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err == nil {
		_, _ = w.Write(text)
		return
	}
	w.WriteHeader(weirhttp.BodyStatus(r.Context(), err))
}

func TestStalledSender(t *testing.T) {
	t.Parallel()
	l := start(t, sink, func(c *config.Listener) { c.BodyTimeout = short })
	for name, text := range map[string]string{
		"length": "Content-Length: 10\r\n\r\nhalf",
		"chunks": "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		"expect": "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\n"+text)
			status, _ := answer(t, answers)
			if status == http.StatusContinue {
				status, _ = answer(t, answers)
			}
			if status != http.StatusRequestTimeout {
				t.Errorf("status %d, want 408", status)
			}
		})
	}
	if n := l.Counts(); n.Slow != 3 {
		t.Errorf("%+v, want each counted once", n)
	}
}

func TestBrokenBodyIsTheClientsFault(t *testing.T) {
	l := start(t, sink, nil)
	_, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n")
	if status, _ := answer(t, answers); status != http.StatusBadRequest {
		t.Errorf("status %d, want 400", status)
	}
}

// A client may wait for more of a response before it sends more of its body.
func TestSlowSenderIsNoStalledOne(t *testing.T) {
	t.Parallel()
	for _, rate := range []config.Bytes{0, 100_000} {
		l := start(t, func(w http.ResponseWriter, r *http.Request) {
			if rate > 0 {
				r.Body.(interface{ Converse() }).Converse()
			}
			sink(w, r)
		}, func(c *config.Listener) { c.BodyTimeout, c.BodyRate = 20*short, rate })
		for name, protocol := range versions {
			t.Run(fmt.Sprintf("%s, rate %d", name, rate), func(t *testing.T) {
				t.Parallel()
				c := client(t, protocol)
				body, sender := io.Pipe()
				go func() {
					defer sender.Close()
					sendSlowly(sender, strings.Repeat("b", 40)) // twice the time of a stall
				}()
				response := must.Have(c.Post("http://"+l.Addr().String(), "text/plain", body))(t)
				defer response.Body.Close()
				if text, err := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || len(text) != 40 {
					t.Errorf("status %d, %d bytes, %v", response.StatusCode, len(text), err)
				}
			})
		}
	}
}

func sendSlowly(to io.Writer, text string) {
	for i := range text {
		_, _ = io.WriteString(to, text[i:i+1])
		after(short, nil)
	}
}

// The client is still sending, and the handler ignores the body: net/http reads some of the
// rest before it answers.
func TestEarlyAnswerToStalledSender(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 64 << 10} { // net/http does so after the handler, or when it sends the first part
		l := start(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write(make([]byte, size))
		}, func(c *config.Listener) { c.BodyTimeout = short })
		_, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf")
		if status, body := answer(t, answers); status != http.StatusServiceUnavailable || len(body) != size {
			t.Errorf("status %d with %d bytes, want 503 with %d", status, len(body), size)
		}
		if _, err := answers.ReadByte(); err != io.EOF {
			t.Errorf("the connection goes on: %v", err)
		}
	}
}

// A body that is too long for that is not read at all.
func TestEarlyAnswerToALongBody(t *testing.T) {
	l := start(t, hello, nil)
	conn, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n")
	must.Do(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	if status, _ := answer(t, answers); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

func TestSlowHandlerIsNoStalledClient(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if r.URL.Path == "/slow" {
			after(3*short, ended)
		}
		if err != nil || r.Context().Err() != nil {
			t.Errorf("%v, %v", err, context.Cause(r.Context()))
		}
		_, _ = w.Write(text)
	}, func(c *config.Listener) { c.BodyTimeout = short })
	conn, answers := dial(t, l, "POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
	for range 2 {
		if status, body := answer(t, answers); status != http.StatusOK || body != "body" {
			t.Errorf("%d %q", status, body)
		}
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody")
	}
	c := client(t, (*http.Protocols).SetUnencryptedHTTP2)
	response := must.Have(c.Post("http://"+l.Addr().String()+"/slow", "", strings.NewReader("body")))(t)
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); string(text) != "body" {
		t.Errorf("HTTP/2: %q, %v", text, err)
	}
}

// A transport may read a request's body after its handler has returned. That must not set a
// deadline for the next request.
func TestReadAfterTheHandler(t *testing.T) {
	t.Parallel()
	bodies := make(chan io.Reader, 1)
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if body, err := io.ReadAll(<-bodies); err == nil || len(body) > 0 {
				t.Errorf("read %q of the request before, %v", body, err)
			}
			after(3*short, nil)
			if err := r.Context().Err(); err != nil {
				t.Errorf("the request after it: %v", err)
			}
			hello(w, r)
			return
		}
		bodies <- r.Body
	}, func(c *config.Listener) { c.BodyTimeout = short })
	_, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"+get)
	for _, want := range []string{"", "hello"} {
		if status, body := answer(t, answers); status != http.StatusOK || body != want {
			t.Errorf("%d %q, want %q", status, body, want)
		}
	}
}

func upgraded(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") == "" {
		_, _ = io.Copy(io.Discard, r.Body)
		hello(w, r)
		return
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	_, _ = io.Copy(conn, rw)
}

const upgrade = "POST / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n"

func TestHijackedConnectionHasNoTimeLimits(t *testing.T) {
	l := start(t, upgraded, func(c *config.Listener) { c.BodyTimeout, c.HeaderTimeout, c.IdleTimeout = short, short, short })
	conn, answers := dial(t, l, upgrade+"\r\n")
	if text, err := answers.ReadString('\n'); !strings.Contains(text, "101") {
		t.Fatalf("%q, %v", text, err)
	}
	for text := ""; text != "\r\n"; text, _ = answers.ReadString('\n') {
		continue
	}
	after(3*short, nil)
	echo(t, conn, answers)
	if err := l.Shutdown(context.Background()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	echo(t, conn, answers)
	l.Close()
	if _, err := answers.ReadByte(); err != io.EOF {
		t.Errorf("it outlived the listener: %v", err)
	}
}

func TestHijackedConnectionMayNotReadForLong(t *testing.T) {
	t.Parallel()
	const size = 32 << 20 // more than fits into socket buffers
	l := start(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, err := conn.Write(make([]byte, size)); err != nil {
			t.Errorf("Write: %v", err)
		}
	}, func(c *config.Listener) { c.BodyTimeout = short / 6 })
	conn, _ := dial(t, l, get)
	after(8*readersPatience*short/6, nil)
	if n, err := io.Copy(io.Discard, conn); n != size || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

func echo(t *testing.T, to io.Writer, from *bufio.Reader) {
	t.Helper()
	_, _ = io.WriteString(to, "ping\n")
	if text, err := from.ReadString('\n'); text != "ping\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestUpgradeWithABodyIsIgnored(t *testing.T) {
	l := start(t, upgraded, nil)
	_, answers := dial(t, l, upgrade+"Content-Length: 4\r\n\r\nbody")
	if status, body := answer(t, answers); status != http.StatusOK || body != "hello" {
		t.Errorf("%d %q", status, body)
	}
}

func endless(ended chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for page := make([]byte, 1<<20); ; {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	}
}

func TestStalledReader(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		ended := make(chan struct{})
		l := start(t, endless(ended), func(c *config.Listener) { c.Address, c.BodyTimeout = address, short })
		dial(t, l, get) // and never reads
		<-ended
		must.Happen(t, "it is closed and counted", func() bool { n := l.Counts(); return n.Open == 0 && n.Stalled == 1 })
	}
}

func TestStalledReaderOfHTTP2(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	l := start(t, endless(ended), func(c *config.Listener) { c.BodyTimeout = short })
	c := client(t, (*http.Protocols).SetUnencryptedHTTP2)
	response := must.Have(c.Get("http://" + l.Addr().String()))(t)
	<-ended // the client has a window for each stream, and does not read
	response.Body.Close()
	if n := l.Counts(); n.Stalled != 1 || n.Open != 1 || n.Resets != 0 {
		t.Errorf("%+v, want one stalled stream on an open connection, which no client reset", n)
	}
}

// A write lasts until the client has read the data in the socket, which is longer than a
// client may stall.
func TestSlowReaderIsNoStalledOne(t *testing.T) {
	t.Parallel()
	const stall = time.Second // a busy machine may delay the reader for seconds
	size := 12 << 20
	l := start(t, func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(make([]byte, size)); err != nil {
			t.Errorf("Write: %v", err)
		}
	}, func(c *config.Listener) { c.BodyTimeout = config.Duration(stall) })
	for name, protocol := range versions {
		t.Run(name, func(t *testing.T) {
			c := client(t, protocol)
			response := must.Have(c.Get("http://" + l.Addr().String()))(t)
			defer response.Body.Close()
			read, begun := 0, time.Now()
			for part := make([]byte, 256<<10); read < size; {
				n, err := io.ReadFull(response.Body, part)
				if read += n; err != nil && read < size {
					t.Fatalf("cut after %d bytes and %v: %v", read, time.Since(begun), err)
				}
				<-time.After(time.Until(begun.Add(3 * readersPatience * stall / 2 * time.Duration(read) / time.Duration(size)))) // 2 MB/s
			}
		})
	}
}

// With the usual BodyTimeout, a client that reads 1 KB/s of a response of 10 MB is not cut.
// The test runs twenty times as fast.
func TestKilobyteASecond(t *testing.T) {
	longtest.Skip(t)
	const faster = 20
	t.Parallel() // waits for 12 s
	failed := make(chan error, 1)
	l := start(t, func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 10<<20))
		failed <- err
	}, func(c *config.Listener) { c.BodyTimeout = config.Duration(30 * time.Second / faster) })
	conn, _ := dial(t, l, get)
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	part, begun := make([]byte, 1<<10), time.Now()
	for n := range 240 {
		<-time.After(time.Until(begun.Add(time.Duration(n+1) * time.Second / faster))) // a ticker would leave out the ticks that a busy machine misses
		if _, err := io.ReadFull(conn, part); err != nil {
			t.Fatalf("cut after %d s: %v", n, err)
		}
		select {
		case err := <-failed:
			t.Fatalf("cut after %d s: %v", n, err)
		default:
		}
	}
}
