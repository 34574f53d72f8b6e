package exchange

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/limittest"
)

// raw writes a raw answer on the connection and closes it.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

func TestUpstreamsThatFail(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		upstream http.HandlerFunc
		status   int
		broken   bool
		taught   limittest.Taught
	}{
		"closes":             {raw(""), 502, false, limittest.Taught{Failed: 1}},
		"garbage":            {raw("garbage\r\n\r\n"), 502, false, limittest.Taught{Failed: 1}},
		"closes in header":   {raw(ok + "X: "), 502, false, limittest.Taught{Failed: 1}},
		"two lengths":        {raw(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx"), 502, false, limittest.Taught{Failed: 1}},
		"short":              {raw(ok + "Content-Length: 10\r\n\r\nhalf"), 502, false, limittest.Taught{Failed: 1}},
		"short and long":     {raw(ok + "Content-Length: 100000\r\n\r\nhalf"), 0, true, limittest.Taught{Succeeded: 1}},
		"chunks end":         {raw(ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"), 200, true, limittest.Taught{Failed: 1}},
		"chunks are garbage": {raw(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 200, true, limittest.Taught{Failed: 1}},
		"events end":         {raw(ok + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"), 200, true, limittest.Taught{Succeeded: 1}},
		"panics":             {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 502, false, limittest.Taught{Failed: 1}},
		"another protocol":   {raw("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"), 502, false, limittest.Taught{Failed: 1}},
		"longer":             {raw(ok + "Content-Length: 4\r\n\r\nhalf an answer"), 200, false, limittest.Taught{Succeeded: 1}},
		"500":                {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 500, false, limittest.Taught{Failed: 1}},
		"503":                {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 503, false, limittest.Taught{Overloaded: 1}},
		"429":                {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 429, false, limittest.Taught{Ignored: 1}},
		"204":                {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, false, limittest.Taught{Succeeded: 1}},
		"304":                {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, 304, false, limittest.Taught{Succeeded: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			rg := newRig(t, 1, false, c.upstream, nil)
			status, _, err := rg.get("/")
			if c.broken && status == 0 { // the connection was closed before the header was flushed
				status = c.status
			}
			if status != c.status || (err != nil) != c.broken {
				t.Errorf("status %d, error %v", status, err)
			}
			rg.taught(c.taught)
			broken := uint64(0)
			if c.broken {
				broken = 1
			}
			if n := rg.shared.Counts(); n.Broken != broken || n.Ended() != 1 {
				t.Errorf("%+v", n)
			}
			if failed := c.status == 502 || c.broken; (len(rg.faults) > 0) != failed {
				t.Errorf("faults %v", rg.faults)
			}
		})
	}
}

func TestPushbackOfARoute(t *testing.T) {
	rg := newRig(t, 1, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, func(_ *config.Config, rc *config.Route) {
		rc.Pushback = true
	})
	if status, _, err := rg.get("/"); status != 429 || err != nil {
		t.Errorf("status %d, error %v", status, err)
	}
	rg.taught(limittest.Taught{Overloaded: 1})
}

// timeout is for tests whose upstream responds within it: a busy machine sometimes needs 0.1 s. It
// is below the Streams.After of a rig, from which on a response is a stream.
const timeout = 500 * time.Millisecond

func TestTimeout(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/": 504, "/known": 504, "/unknown": 200} {
		t.Run(path, func(t *testing.T) {
			rg := newRig(t, 1, false, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/known":
					w.Header().Set("Content-Length", "5")
					w.(http.Flusher).Flush()
				case "/unknown":
					fmt.Fprint(w, "half")
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			}, func(_ *config.Config, r *config.Route) { r.Path, r.Timeout = "/", config.Duration(timeout) })
			status, _, err := rg.get(path)
			if status != want || (err != nil) != (want == 200) {
				t.Errorf("status %d, error %v", status, err)
			}
			rg.taught(limittest.Taught{TimedOut: 1})
			if c := rg.shared.Counts(); c.TimedOut != 1 || len(rg.faults) != 1 || !errors.Is(rg.faults[0], weir.ErrExecutionTimeout) {
				t.Errorf("%+v, faults %v", c, rg.faults)
			}
			where := "route /: "
			if path != "/" { // there was a response
				where = "route /, " + rg.upstream.Listener.Addr().String() + ": "
			}
			if fault := fmt.Sprint(rg.faults); !strings.Contains(fault, where) {
				t.Errorf("%s, want %s", fault, where)
			}
		})
	}
}

// A client that stalls within its upload holds the slot no longer than the timeout, and then gets
// its answer at once. The upstream is not to blame.
func TestTimeoutOfAStalledUpload(t *testing.T) {
	t.Parallel()
	rg := newRig(t, 1, false, site, func(c *config.Config, r *config.Route) {
		noBuffers(c, r)
		r.Timeout = config.Duration(timeout)
	})
	_, answers := rg.dial(upload)
	rg.answer(answers, http.StatusRequestTimeout)
	if status, _, err := rg.get("/"); status != 200 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	body, sender := io.Pipe()
	defer sender.Close()
	status, _, err := read(rg.client(true).Post(rg.front.URL+"/upload", "", body))
	if status != http.StatusRequestTimeout || err != nil {
		t.Errorf("by HTTP/2: status %d, %v", status, err)
	}
	if c := rg.shared.Counts(); c.TimedOut != 0 || rg.blamed() != 0 {
		t.Errorf("%+v, %d failures of the upstream", c, rg.blamed())
	}
}

// A client that stalls within a short upload gets the answer at once if no upstream can be reached.
func TestUploadWithoutAnUpstream(t *testing.T) {
	rg := newRig(t, 1, false, echo, noBuffers)
	rg.upstream.Close()
	_, answers := rg.dial("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nbegin")
	rg.answer(answers, http.StatusBadGateway)
}

// An upload may take longer than the timeout, but not an upstream that takes none of it.
func TestTimeoutOfAnUpload(t *testing.T) {
	t.Parallel()
	const timeout = 2 * timeout // a busy machine may stall between two pieces
	over := make(chan struct{})
	rg := newRig(t, 4, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-over
		}
		_, _ = io.Copy(w, r.Body)
	}, func(c *config.Config, r *config.Route) {
		noBuffers(c, r)
		r.Timeout, c.Streams.After = config.Duration(timeout), config.Duration(5*timeout)
	})
	body, client := io.Pipe()
	pieces := time.NewTicker(timeout / 5)
	defer pieces.Stop()
	go func() {
		defer client.Close()
		for range 8 {
			_, _ = io.WriteString(client, "piece ")
			<-pieces.C
		}
	}()
	status, text, err := read(rg.client(false).Post(rg.front.URL, "", body))
	if want := strings.Repeat("piece ", 8); status != http.StatusOK || text != want || err != nil {
		t.Errorf("a slow client: %d, %q, %v", status, text, err)
	}
	long := strings.NewReader(strings.Repeat("x", 64*mebibyte))
	defer close(over)
	if status, _, err := read(rg.client(false).Post(rg.front.URL+"/hangs", "", long)); status != http.StatusGatewayTimeout {
		t.Errorf("an upstream that hangs: %d, %v", status, err)
	}
	if n := rg.shared.Counts().TimedOut; n != 1 {
		t.Errorf("%d timeouts", n)
	}
}

// An upstream that refuses all requests is sent few for the time that it names.
func TestUpstreamThatRefusesAll(t *testing.T) {
	t.Parallel() // it takes a second
	rg := newRig(t, 4, false, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusServiceUnavailable)
	}, nil)
	rg.until("a request is refused for pushback", func() bool {
		if status, _, err := rg.get("/"); status != http.StatusServiceUnavailable || err != nil {
			t.Fatalf("status %d, %v", status, err)
		}
		return rg.shared.Counts().Refused["pushback"] > 0
	})
}

// A law must not learn from a lack of files that the proxy itself has.
func TestOutcomeWithoutAFileForAConnection(t *testing.T) {
	x := &exchange{ctx: t.Context()}
	for err, want := range map[error]weir.Outcome{syscall.EMFILE: weir.Ignore, syscall.ECONNREFUSED: weir.Failure} {
		if got := x.outcome(fmt.Errorf("upstream api: dial: %w", err)); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

// A response 304 may have the length of the body that it does not have. net/http knows that of
// HTTP/1, but not of HTTP/2.
func TestLengthOfAResponseThatIsNotModified(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		rg := newRig(t, 1, h2c, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusNotModified)
		}, nil)
		if status, body, err := rg.get("/"); status != http.StatusNotModified || body != "" || err != nil {
			t.Errorf("HTTP/2 %v: status %d, %q, %v", h2c, status, body, err)
		}
		rg.taught(limittest.Taught{Succeeded: 1})
	}
}
