package listen

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

// hasty requires 100 KB/s.
func hasty(c *config.Listener) { c.BodyTimeout, c.BodyRate = 4*short, 100_000 }

// patient requires the same rate, but tolerates the stalls that a busy machine causes.
func patient(c *config.Listener) { c.BodyTimeout, c.BodyRate = 16*short, 100_000 }

// trickle sends a byte a millisecond until a write fails.
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

func TestSlowSenderOfHTTP2(t *testing.T) {
	t.Parallel()
	l := start(t, sink, patient)
	timesOutOverHTTP2(t, l, func(to io.Writer) { trickle(to, "x") })
	if n := l.Counts(); n.Slow != 1 {
		t.Errorf("%+v, want one slow body", n)
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
	for name, protocol := range map[string]func(*http.Protocols, bool){"h1": (*http.Protocols).SetHTTP1, "h2": (*http.Protocols).SetUnencryptedHTTP2} {
		t.Run(name, func(t *testing.T) {
			c, _ := client(t, protocol)
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
	c, _ := client(t, (*http.Protocols).SetUnencryptedHTTP2)
	statuses := make(chan int)
	post := func(path string, body io.Reader) {
		response, err := c.Post("http://"+l.Addr().String()+path, "", body)
		if err != nil {
			t.Error(err)
			statuses <- 0
			return
		}
		response.Body.Close()
		statuses <- response.StatusCode
	}
	for range connectionWindow / streamWindow {
		go post("/unread", strings.NewReader(strings.Repeat("x", streamWindow+1)))
	}
	var one *conn
	must.Happen(t, "the window is closed", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for one = range l.conns {
			return one.received.Load() > connectionWindow
		}
		return false
	})
	go post("/", strings.NewReader(strings.Repeat("x", 1000)))
	must.Happen(t, "the fifth body is waited for", func() bool { return one.awaited.Load() == 1 })
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
	go post("/whole", strings.NewReader("x"))
	<-statuses
	if n := one.unread.Load(); n != 0 {
		t.Errorf("%d bodies count as not read", n)
	}
}

// The client may wait for more of a response before it sends more of its body.
func TestConverse(t *testing.T) {
	const text = "0123456789abcdefghijklmn"
	l := start(t, func(w http.ResponseWriter, r *http.Request) {
		r.Body.(interface{ Converse() }).Converse()
		sink(w, r)
	}, patient)
	conn, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 24\r\n\r\n")
	sendSlowly(conn, text, short)
	if status, body := answer(t, answers); status != http.StatusOK || body != text {
		t.Errorf("%d %q", status, body)
	}
}

func sendSlowly(to net.Conn, text string, pace config.Duration) {
	for i := range text {
		_, _ = io.WriteString(to, text[i:i+1])
		after(pace, nil)
	}
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

// net/http reads a whole chunk if it fits, so this is one read.
func TestSlowChunkIsNotStalled(t *testing.T) {
	t.Parallel()
	l := start(t, sink, func(c *config.Listener) { c.BodyTimeout = 10 * short })
	conn, answers := dial(t, l, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n")
	sendSlowly(conn, strings.Repeat("x", 20)+"\r\n0\r\n\r\n", short)
	if status, body := answer(t, answers); status != http.StatusOK || len(body) != 20 {
		t.Errorf("%d %q", status, body)
	}
}

// A handler ends the current read.
func TestInterruptedReadIsNotExtended(t *testing.T) {
	socket, other := net.Pipe()
	defer other.Close()
	c := &conn{Conn: socket, listener: new(Listener)}
	defer socket.Close()
	deadline, _ := c.delayRead(time.Now().Add(time.Hour))
	_ = c.SetReadDeadline(past)
	c.extendRead(deadline, time.Now().Add(time.Hour))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

const (
	testRate  = 240
	testGrace = 30 * time.Second
)

// A paced is a pace without a client.
type paced struct {
	pace
	cuts []time.Time
}

func newPaced() *paced {
	l := new(Listener)
	l.live.Store(&live{bodyRate: testRate, bodyTimeout: testGrace})
	return &paced{pace: pace{conn: &conn{listener: l}}}
}

func (p *paced) look() {
	if p.late() {
		p.cuts = append(p.cuts, time.Now())
	}
}

// wait is a read of the body of the given duration. The connection receives perSecond bytes
// each second; the last second brings the body's bytes.
func (p *paced) wait(seconds int, perSecond uint64, body int) {
	p.begin()
	for range seconds {
		time.Sleep(time.Second)
		p.conn.received.Add(perSecond)
		p.look()
	}
	p.end(body)
}

func TestPace(t *testing.T) {
	for _, test := range []struct {
		name       string
		client     func(p *paced)
		from, till time.Duration // when it is cut; 0 for never
	}{
		{"nothing", func(p *paced) { p.wait(100, 0, 0) }, 30 * time.Second, 34 * time.Second},
		{"a byte a second", func(p *paced) {
			for range 100 {
				p.wait(1, 1, 1)
			}
		}, 30 * time.Second, 35 * time.Second},
		{"half the rate", func(p *paced) {
			for range 100 {
				p.wait(1, testRate/2, testRate/2)
			}
		}, 60 * time.Second, 65 * time.Second},
		{"the rate", func(p *paced) {
			for range 3600 {
				p.wait(1, testRate, testRate)
			}
		}, 0, 0},
		{"the rate, a frame at a time", func(p *paced) {
			for range 100 {
				p.wait(68, testRate, 68*testRate)
			}
		}, 0, 0},
		{"the body alone is told", func(p *paced) { // by the connection's buffer
			for range 100 {
				p.wait(20, 0, 20*testRate)
			}
		}, 0, 0},
		{"a pause within the grace", func(p *paced) { p.wait(1, 1000, 1000); p.wait(29, 1<<20, 1<<20); p.wait(29, 0, 1) }, 0, 0},
		{"a fast beginning buys nothing", func(p *paced) { p.wait(1, 1<<30, 1<<30); p.wait(100, 1, 1) }, 30 * time.Second, 36 * time.Second},
		{"the proxy does not read", func(p *paced) {
			for range 100 {
				p.wait(1, 1000, 1000)
				time.Sleep(time.Minute)
			}
		}, 0, 0},
		{"other bodies close its window", func(p *paced) {
			p.conn.unread.Store(4)
			p.wait(100, 0, 0)
		}, 0, 0},
		{"its response has begun", func(p *paced) { p.wait(20, 0, 0); p.close(); p.wait(100, 0, 0) }, 0, 0},
		{"its response begins", func(p *paced) {
			p.begin()
			time.Sleep(20 * time.Second)
			p.close()
			time.Sleep(time.Hour)
			p.look()
			p.end(1)
		}, 0, 0},
		{"no time limit", func(p *paced) {
			p.conn.listener.live.Store(&live{bodyRate: testRate})
			p.wait(1000, 0, 0)
		}, 0, 0},
		{"no rate", func(p *paced) {
			p.conn.listener.live.Store(&live{bodyTimeout: testGrace})
			p.wait(1000, 0, 0)
		}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, begun := newPaced(), time.Now()
				test.client(p)
				p.close()
				slow := p.conn.listener.Counts().Slow
				if int(slow) != len(p.cuts) || p.slow != (slow > 0) {
					t.Errorf("cut %d times, %d counted, slow %v", len(p.cuts), slow, p.slow)
				}
				if want := min(uint64(test.till), 1); slow != want {
					t.Fatalf("cut %d times, want %d", slow, want)
				}
				if slow > 0 {
					if after := p.cuts[0].Sub(begun); after < test.from || after > test.till {
						t.Errorf("cut after %v, want %v to %v", after, test.from, test.till)
					}
				}
				if n := p.conn.awaited.Load(); n != 0 {
					t.Errorf("%d bodies are still waited for", n)
				}
			})
		})
	}
}

// Ten bodies on a connection that receives the rate of one: nine are slow, however fast the
// tenth is.
func TestPaceIsOfEachBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, cut := newPaced(), 0
		var slow [9]pace
		for i := range slow {
			slow[i].conn = fast.conn
			slow[i].begin()
		}
		for range 300 {
			fast.begin()
			time.Sleep(time.Second)
			fast.conn.received.Add(testRate)
			for i := range slow {
				if slow[i].late() {
					cut++
				}
			}
			fast.end(testRate)
		}
		if cut != 9 || fast.slow {
			t.Errorf("cut %d, the fast one: %v", cut, fast.slow)
		}
	})
}

// FuzzArrears compares with the definition: the arrears are the maximum, over all earlier
// times, of the time since then minus the time that the bytes since then take.
func FuzzArrears(f *testing.F) {
	f.Add(uint64(1), int64(240), uint16(100))
	f.Add(uint64(2), int64(1), uint16(1000))
	f.Add(uint64(3), int64(1<<30), uint16(1000))
	f.Fuzz(func(t *testing.T, seed uint64, rate int64, steps uint16) {
		rate = 1 + (rate&(1<<62-1))%(1<<30)
		random := rand.New(rand.NewPCG(seed, 0))
		var a arrears
		var lead, most float64 // of the bytes before the time, in seconds; its maximum so far
		for n := range int(steps) {
			waited := time.Duration(random.Int64N(int64(time.Minute)))
			bytes := random.Int64N(2*rate*int64(waited/time.Millisecond)/1000 + 2)
			a = a.after(waited, bytes, rate)
			lead += float64(bytes)/float64(rate) - waited.Seconds()
			most = max(most, lead)
			tolerance := float64(n+1) * 2e-9 * float64(time.Second)
			if want := (most - lead) * float64(time.Second); float64(a) < want-tolerance-want*1e-6 || float64(a) > want+tolerance+want*1e-6 {
				t.Fatalf("step %d: %v behind, want %v", n, time.Duration(a), time.Duration(want))
			}
		}
		for _, bytes := range []int64{-1, 0, 1<<63 - 1} {
			if again := a.after(0, bytes, rate); again < 0 || again > a {
				t.Errorf("%d bytes took it from %v to %v", bytes, time.Duration(a), time.Duration(again))
			}
		}
	})
}
