package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/client"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/slot"
)

// site is an upstream with a response for each kind of slow client.
func site(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/events":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/open": // begins and never ends
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/endless":
		for page := make([]byte, 1<<20); ; {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	case "/upload":
		_, _ = io.Copy(io.Discard, r.Body)
	default:
		say(w, r)
	}
}

// A client that reads no informational responses holds no slot while the upstream works, and gets
// the final response once it reads.
func TestUnreadInformationalResponsesHoldNoSlot(t *testing.T) {
	rg := newRig(t, 1, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", strings.Repeat("x", 60_000))
		for range 100 {
			w.WriteHeader(http.StatusEarlyHints)
		}
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "hello")
	}, nil)
	_, answers := rg.dial("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	rg.until("its slot is free", func() bool { return rg.lim.Snapshot().Succeeded == 1 })
	status := http.StatusEarlyHints
	for status == http.StatusEarlyHints {
		res := must.Have(http.ReadResponse(answers, nil))(t)
		status = res.StatusCode
	}
	if status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

// There are enough slow clients to fill the limit of 10, but other requests are not affected,
// whatever the slow clients do.
func TestSlowClientsHoldNoSlots(t *testing.T) {
	const crowd, requests = 40, 100
	for name, text := range map[string]string{
		"header only":         "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n",
		"stalled upload":      "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf",
		"stalled long upload": "POST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\nhalf",
		"stalled at once":     upload,
		"stalled chunks":      "POST /upload HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		"reads nothing, page": "GET /?length=1&size=60000 HTTP/1.1\r\nHost: h\r\n\r\n",
		"reads nothing, long": "GET /?length=1&size=5000000 HTTP/1.1\r\nHost: h\r\n\r\n",
		"reads nothing, open": "GET /endless HTTP/1.1\r\nHost: h\r\n\r\n",
		"events":              "GET /events HTTP/1.1\r\nHost: h\r\n\r\n",
		"open":                "GET /open HTTP/1.1\r\nHost: h\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			rg := newRig(t, 10, false, site, func(c *config.Config, _ *config.Route) { c.Streams.After = config.Duration(10 * time.Millisecond) })
			rg.shared.pause = 10 * time.Millisecond
			for range crowd {
				rg.dial(text)
			}
			rg.until("all are there", func() bool { return rg.shared.Counts().Received == crowd })
			// Some requests are still on their way to a slot when they are counted.
			rg.until("none holds a slot", func() bool {
				s := rg.lim.Snapshot()
				return s.InFlight == 0 && (strings.HasPrefix(text, "POST") || s.Succeeded == crowd)
			})
			before := rg.lim.Snapshot()
			client := rg.client(false)
			for range requests {
				if status, _, err := read(client.Get(rg.front.URL + "/?size=1000&length=1")); status != 200 || err != nil {
					t.Fatalf("a request beside them: status %d, error %v", status, err)
				}
			}
			s := rg.lim.Snapshot()
			if n := s.Succeeded - before.Succeeded; n != requests {
				t.Errorf("%d successes beside them, want %d", n, requests)
			}
			if s.Failed != 0 || s.TimedOut != 0 {
				t.Errorf("slow clients are failures: %+v", s)
			}
			if used := rg.shared.Counts().Memory; used > crowd*(64<<10+firstChunk+nextChunk) {
				t.Errorf("%d bytes of memory", used)
			}
			rg.front.CloseClientConnections()
			rg.idle()
		})
	}
}

// If memory is used up, a request body goes to a file and a response becomes a stream, and
// both arrive whole.
func TestMemoryIsBounded(t *testing.T) {
	const bound = 3 * firstChunk
	rg := newRig(t, 10, false, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			say(w, r)
			return
		}
		echo(w, r)
	}, func(c *config.Config, _ *config.Route) { c.Buffers.Memory = bound })
	for _, size := range []int{1, 3000, 10_000, 60_000, 1 << 20} {
		text := strings.Repeat("0123456789", size/10+1)[:size]
		for _, known := range []bool{false, true} {
			body := bodyOf(text, known)
			status, got, err := read(rg.client(false).Post(rg.front.URL, "text/plain", body))
			if status != 200 || got != text || err != nil {
				t.Errorf("%d bytes, known %v: status %d, %d bytes, error %v", size, known, status, len(got), err)
			}
		}
	}
	for _, length := range []string{"", "1"} {
		if _, got, err := rg.get("/?size=20000&length=" + length); got != strings.Repeat("x", 20_000) || err != nil {
			t.Errorf("a response of %d bytes, error %v", len(got), err)
		}
	}
	rg.idle()
	if c := rg.shared.Counts(); c.Exchanged == 0 || c.Streamed != 0 {
		t.Errorf("all of it found room: %+v", c)
	}
}

func TestMemoryTakesNoMoreThanItsBound(t *testing.T) {
	var m memory
	m.bound.Store(firstChunk + nextChunk)
	b := buffer{memory: &m}
	for range firstChunk + nextChunk {
		room := b.room()
		room[0] = 'x'
		b.filled(1)
	}
	if b.room() != nil {
		t.Error("there was room above the bound")
	}
	if got := b.read(make([]byte, firstChunk+nextChunk+1)); got != firstChunk+nextChunk {
		t.Errorf("%d bytes", got)
	}
	if used := m.used.Load(); used != nextChunk { // the last chunk stays
		t.Errorf("%d bytes taken after reading, want %d", used, nextChunk)
	}
	if b.free(); m.used.Load() != 0 {
		t.Errorf("%d bytes taken at the end", m.used.Load())
	}
}

func TestFilesHaveNoName(t *testing.T) {
	release := make(chan struct{})
	var dir string
	rg := newRig(t, 10, false, func(w http.ResponseWriter, r *http.Request) {
		<-release
		echo(w, r)
	}, func(c *config.Config, _ *config.Route) { c.Buffers.File = 1 << 20; dir = c.Buffers.Directory })
	done := make(chan error)
	go func() {
		_, _, err := read(rg.client(false).Post(rg.front.URL, "text/plain", strings.NewReader(strings.Repeat("x", 200_000))))
		done <- err
	}()
	rg.until("it is with the upstream", func() bool { return rg.inFlight() == 1 })
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 0 || rg.shared.Counts().Files != 1 {
		t.Errorf("files %v, %+v", names, rg.shared.Counts())
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// The proxy asks for a body to read it, whether there is room for the body or not.
func TestExpectIsAnsweredByTheProxy(t *testing.T) {
	for framing, body := range map[string]string{
		"Content-Length: 4\r\n\r\n":          "body",
		"Transfer-Encoding: chunked\r\n\r\n": "4\r\nbody\r\n0\r\n\r\n",
	} {
		for name, change := range map[string]func(*config.Config, *config.Route){
			"in memory": nil,
			"no room":   func(c *config.Config, _ *config.Route) { c.Buffers.Request, c.Buffers.Store = 0, 1 },
		} {
			rg := newRig(t, 10, false, echo, change)
			conn, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n" + framing)
			rg.answer(answers, 100)
			if n := rg.inFlight(); n != 0 {
				t.Errorf("%s: %d in flight before the body", name, n)
			}
			must.Have(io.WriteString(conn, body))(t)
			res := rg.answer(answers, http.StatusOK)
			if expects := res.Header.Get("Got-Expect"); expects != "" {
				t.Errorf("%s: the upstream got Expect: %s", name, expects)
			}
			if got, _ := io.ReadAll(res.Body); string(got) != "body" {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

// Clients that stall in their bodies, however many, leave memory for responses and for short
// bodies.
func TestStalledBodiesLeaveMemory(t *testing.T) {
	const all = 512 << 10
	for stalled, most := range map[int]int64{10: all/2 + 10*firstChunk, 100: all / 4 * 3} {
		rg := newRig(t, 10, false, echo, func(c *config.Config, _ *config.Route) { c.Buffers.Memory = all })
		for range stalled {
			rg.dial("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n" + strings.Repeat("x", 59000))
		}
		rg.until("all are in memory or in files", func() bool {
			c := rg.shared.Counts()
			return c.Received == uint64(stalled) && c.Stored+c.Memory >= int64(stalled)*59000
		})
		if c := rg.shared.Counts(); c.Files == 0 || c.Memory > most {
			t.Errorf("%d stalled bodies: %+v, want %d bytes of memory at most", stalled, c, most)
		}
		for _, size := range []int{0, 2000} {
			res, err := rg.client(false).Post(rg.front.URL, "", strings.NewReader(strings.Repeat("x", size)))
			if status, body, err := read(res, err); status != 200 || len(body) != size || err != nil {
				t.Errorf("%d bytes beside %d stalled bodies: status %d, %d bytes, %v", size, stalled, status, len(body), err)
			}
		}
	}
}

// The timeout of a route ends with the slot, and that of a conversation with the header of its
// response. It does not count a client that reads slowly.
func TestSlowReaderIsNoTimeout(t *testing.T) {
	for name, c := range map[string]struct{ takes, responds func(*exchange) error }{
		"whole":        {(*exchange).admit, func(x *exchange) error { x.settle(weir.Success); return nil }},
		"stream":       {(*exchange).admit, func(x *exchange) error { return x.becomeStream(slot.Of(x.shared.events), weir.Success) }},
		"conversation": {(*exchange).begin, func(x *exchange) error { return x.receive(&http.Response{StatusCode: 200, Request: x.in}) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			conf, rc := settings()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			shared := must.Have(New(ctx, &conf, nil))(t)
			defer shared.Close()
			in := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
			rt := shared.Route(limittest.Fixed(t, 1, weir.Queue{}), nil, rc)
			x := &exchange{route: rt, shared: shared, asked: ctx, in: in, who: new(client.Identity), body: intake{client: in}}
			must.Do(t, c.takes(x))
			x.startDeadline()
			defer x.cancel(errOver)
			must.Do(t, c.responds(x))
			time.Sleep(2 * time.Duration(rc.Timeout))
			if n := shared.Counts().TimedOut; n != 0 || x.ctx.Err() != nil {
				t.Errorf("%s: %d timeouts, %v", name, n, context.Cause(x.ctx))
			}
			x.slot.Close(weir.Ignore)
		})
	}
}

// A chunked response is over for its upstream when the proxy has it, whenever the client reads it.
func TestSlowReaderKeepsNoRequestInFlight(t *testing.T) {
	const size = 20_000_000
	rg := newRig(t, 1, false, say, func(c *config.Config, _ *config.Route) { c.Buffers.Response, c.Buffers.Memory = 2*size, 4*size })
	_, answers := rg.dial(fmt.Sprintf("GET /?size=%d HTTP/1.1\r\nHost: h\r\n\r\n", size))
	rg.until("it has come", func() bool { return rg.lim.Snapshot().Succeeded == 1 })
	rg.until("no request is in flight", func() bool { return rg.pool.Snapshot()[0].InFlight == 0 })
	if n, err := io.Copy(io.Discard, rg.answer(answers, http.StatusOK).Body); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A body that may be sent again is in memory until there is a response, and no longer.
func TestMemoryOfABodyThatWasSent(t *testing.T) {
	release := make(chan struct{})
	rg := newRig(t, 1, true, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.(http.Flusher).Flush()
		<-release
	}, nil)
	answer := must.Have(http.Post(rg.front.URL, "text/plain", strings.NewReader(strings.Repeat("x", inMemory))))(t)
	defer answer.Body.Close()
	rg.until("only the response has memory", func() bool { return rg.shared.Counts().Memory <= firstChunk })
	close(release)
}

// A server may answer before it has read all of a body that was sent again.
func TestABodyThatIsSentAgainStaysUntilItWasRead(t *testing.T) {
	var m memory
	m.bound.Store(inMemory)
	b := intake{rest: strings.NewReader("ab"), length: 2, most: inMemory, buf: buffer{memory: &m}}
	must.Do(t, b.fill())
	var out http.Request
	b.put(&out, true)
	first := out.Body
	must.Have(io.ReadAll(first))(t)

	again := must.Have(out.GetBody())(t)
	b.answered()
	if got := must.Have(io.ReadAll(again))(t); string(got) != "ab" {
		t.Errorf("%q of the body was sent again", got)
	}
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, errOver) {
		t.Errorf("a try that ended reads on: %v", err)
	}
	b.answered()
	if used := m.used.Load(); used != 0 {
		t.Errorf("%d bytes of memory are in use", used)
	}
}
