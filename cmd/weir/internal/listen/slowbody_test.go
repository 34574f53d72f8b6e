package listen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

func hasty(c *config.Listener) { c.BodyTimeout, c.BodyRate = 4*short, 100_000 }

// patient requires the same rate, but tolerates the stalls that a busy machine causes.
func patient(c *config.Listener) { c.BodyTimeout, c.BodyRate = 16*short, 100_000 }

func trickle(to io.Writer, piece string) {
	for {
		if _, err := io.WriteString(to, piece); err != nil {
			return
		}
		after(config.Duration(time.Millisecond), nil)
	}
}

func TestSlowSender(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, piece string }{
		"length":    {"Content-Length: 1000000\r\n\r\n", "x"},
		"chunks":    {"Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"},
		"one chunk": {"Transfer-Encoding: chunked\r\n\r\n100000\r\n", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := start(t, sink, patient)
			conn, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\n"+test.text)
			go trickle(conn, test.piece)
			if status, _ := answer(t, answers); status != http.StatusRequestTimeout {
				t.Errorf("status %d, want 408", status)
			}
			if _, err := answers.ReadByte(); err == nil {
				t.Error("the connection goes on")
			}
			must.Happen(t, "it is closed and counted", func() bool { n := l.Counts(); return n.Open == 0 && n.Slow == 1 && n.Stalled == 0 })
		})
	}
}

// A body that stalls, or is too slow, ends its stream, and the connection stays open.
func TestLateSenderOfHTTP2(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(io.Writer){
		"stalled": func(to io.Writer) { _, _ = io.WriteString(to, "half") },
		"slow":    func(to io.Writer) { trickle(to, "x") },
	} {
		l := start(t, sink, patient)
		c := client(t, (*http.Protocols).SetUnencryptedHTTP2)
		body, sender := io.Pipe()
		defer sender.Close()
		go send(sender)
		response := must.Have(c.Post("http://"+l.Addr().String(), "text/plain", body))(t)
		response.Body.Close()
		if n := l.Counts(); response.StatusCode != http.StatusRequestTimeout || n.Slow != 1 {
			t.Errorf("%s: status %d, %+v, want 408 and one slow body", name, response.StatusCode, n)
		}
		if status, text, _ := fetch(t, c, "http://"+l.Addr().String()); status != http.StatusOK || l.Counts().Accepted != 1 {
			t.Errorf("%s: another request on the connection: %d %s", name, status, text)
		}
	}
}

// The rate applies only while the proxy waits for the client. This client sends when it is
// read, and the proxy rarely reads.
func TestSlowUpstreamIsNoSlowSender(t *testing.T) {
	const size, pieces = 1 << 20, 20
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		for piece := make([]byte, size/pieces); ; after(short, nil) {
			if _, err := io.ReadFull(r.Body, piece); err == io.EOF {
				return
			} else if err != nil {
				t.Errorf("Read: %v", err)
				w.WriteHeader(http.StatusTeapot)
				return
			}
		}
	}, hasty)
	for name, protocol := range versions {
		t.Run(name, func(t *testing.T) {
			c := client(t, protocol)
			response := must.Have(c.Post("http://"+l.Addr().String(), "", strings.NewReader(strings.Repeat("x", size/pieces*pieces))))(t)
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("status %d", response.StatusCode)
			}
		})
	}
}

// Four bodies that the proxy is not reading fill the connection's window, so the client
// cannot send the fifth.
func TestStarvedBodyIsNotSlow(t *testing.T) {
	unread := make(chan struct{})
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/unread":
			<-unread
		case "/whole": // all but the end is read
			must.Have(io.ReadFull(r.Body, make([]byte, r.ContentLength)))(t)
			if n := connOf(r.Context()).unread.Load(); n != 0 {
				t.Errorf("%d whole bodies count as not read", n)
			}
		}
		sink(w, r)
	}, patient)
	c := client(t, (*http.Protocols).SetUnencryptedHTTP2)
	statuses := make(chan int)
	post := func(path string, size int) {
		response, err := c.Post("http://"+l.Addr().String()+path, "", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Error(err)
			statuses <- 0
			return
		}
		response.Body.Close()
		statuses <- response.StatusCode
	}
	for range connectionWindow / streamWindow {
		go post("/unread", streamWindow+1)
	}
	must.Happen(t, "the window is closed", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for one := range l.conns {
			return one.received.Load() > connectionWindow
		}
		return false
	})
	go post("/", 1000)
	after(24*short, nil)
	close(unread)
	for range connectionWindow/streamWindow + 1 {
		if status := <-statuses; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if n := l.Counts(); n.Slow != 0 {
		t.Errorf("%+v, want none that was slow", n)
	}
	go post("/whole", 1)
	<-statuses
}

// A reload changes the rate of bodies that are being read.
func TestRateChanges(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 4))
		close(begun)
		sink(w, r)
	}, func(c *config.Listener) { c.BodyTimeout = 4 * short })
	conn, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nhalf")
	<-begun
	changed := settings(hasty)
	must.Do(t, l.Update(changed))
	go trickle(conn, "x")
	if status, _ := answer(t, answers); status != http.StatusRequestTimeout {
		t.Errorf("status %d, want 408", status)
	}
}

// net/http reads a whole chunk if it fits, so this is one read, in which no byte is late.
func TestSlowChunkIsNotStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bodyTimeout, size = 10 * time.Second, 20
		socket, client := net.Pipe()
		defer socket.Close()
		l := new(Listener)
		l.live.Store(newLive(config.Listener{BodyTimeout: config.Duration(bodyTimeout)}))
		c := &conn{Conn: socket, listener: l}
		c.await()
		go func() {
			defer client.Close()
			for _, b := range fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n", size, strings.Repeat("x", size)) {
				time.Sleep(bodyTimeout - time.Second)
				if _, err := client.Write([]byte{b}); err != nil {
					return
				}
			}
		}()
		body, err := io.ReadAll(httputil.NewChunkedReader(bufio.NewReader(c)))
		if len(body) != size || err != nil || l.Counts().Slow != 0 {
			t.Errorf("%d bytes, %v, %+v", len(body), err, l.Counts())
		}
	})
}

// A handler ends the current read, and no later read gets more time.
func TestInterruptedReadIsNotExtended(t *testing.T) {
	socket, other := net.Pipe()
	defer other.Close()
	l := new(Listener)
	l.live.Store(newLive(config.Listener{BodyTimeout: config.Duration(time.Hour)}))
	c := &conn{Conn: socket, listener: l}
	defer socket.Close()
	c.await()
	_ = c.SetReadDeadline(past)
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || l.Counts().Slow != 0 {
		t.Errorf("%v, %+v", err, l.Counts())
	}
}

func TestPace(t *testing.T) {
	const rate, grace, never = 240, 30 * time.Second, time.Duration(0)
	of := func(rate config.Bytes, grace time.Duration) *live {
		return newLive(config.Listener{BodyRate: rate, BodyTimeout: config.Duration(grace)})
	}
	usual := of(rate, grace)
	type wait struct {
		took  time.Duration
		bytes int
	}
	for _, test := range []struct {
		name  string
		live  *live
		pace  pace
		first wait
		waits wait // then, again and again
		late  time.Duration
	}{
		{"a byte a second", usual, pace{}, wait{}, wait{time.Second, 1}, 30 * time.Second},
		{"half the rate", usual, pace{}, wait{}, wait{time.Second, rate / 2}, 59 * time.Second},
		{"the rate", usual, pace{}, wait{}, wait{time.Second, rate}, never},
		{"a frame at a time", usual, pace{}, wait{}, wait{29 * time.Second, 16 << 10}, never},
		{"a fast beginning buys nothing", usual, pace{}, wait{time.Second, 1 << 30}, wait{time.Second, 0}, 31 * time.Second},
		{"a conversation", usual, pace{free: true}, wait{}, wait{29 * time.Second, 0}, never},
		{"no rate", of(0, grace), pace{}, wait{}, wait{29 * time.Second, 0}, never},
		{"no time limit", of(rate, 0), pace{}, wait{}, wait{time.Hour, 0}, never},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, took, late := test.pace, test.first.took, never
			p.add(took, test.first.bytes, test.live)
			for range 100 {
				if left := p.left(test.live); left > 0 && left < test.waits.took {
					late = took + left.Truncate(time.Second)
					break
				}
				p.add(test.waits.took, test.waits.bytes, test.live)
				took += test.waits.took
			}
			if late != test.late {
				t.Errorf("late after %v, want %v", late, test.late)
			}
		})
	}
}
