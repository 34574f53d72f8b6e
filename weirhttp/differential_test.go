package weirhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/weirhttp"
)

// A play is a request, and the steps of its handler.
type play struct {
	method  string
	sends   int  // bytes of the request's body
	chunked bool // of no known length
	steps   []step
}

type step struct {
	name string
	does func(w http.ResponseWriter, r *http.Request) string // its reading

	status int
	reads  bool
}

func (p play) String() string {
	names := make([]string, len(p.steps))
	for i, s := range p.steps {
		names[i] = s.name
	}
	return fmt.Sprintf("%s with %d bytes (chunked %v): %s", p.method, p.sends, p.chunked, strings.Join(names, ", "))
}

func writes(n int) step {
	return step{name: fmt.Sprintf("write %d", n), does: func(w http.ResponseWriter, _ *http.Request) string {
		_, err := io.WriteString(w, strings.Repeat("x", n))
		return fmt.Sprint(n > 0 && errors.Is(err, http.ErrBodyNotAllowed)) // of nothing, HTTP/1 and HTTP/2 differ
	}}
}

func heads(name, value string) step {
	return step{name: fmt.Sprintf("set %s: %s", name, value), does: func(w http.ResponseWriter, _ *http.Request) string {
		w.Header().Set(name, value)
		return ""
	}}
}

func answers(status int) step {
	return step{status: status, name: fmt.Sprintf("status %d", status), does: func(w http.ResponseWriter, _ *http.Request) string {
		w.WriteHeader(status)
		return ""
	}}
}

func reads(n int64) step {
	return step{reads: true, name: fmt.Sprintf("read %d", n), does: func(_ http.ResponseWriter, r *http.Request) string {
		n, err := io.Copy(io.Discard, io.LimitReader(r.Body, n))
		return fmt.Sprint(n, err)
	}}
}

// repertoire has the possible steps of a handler. 100 bytes are held back, and read ahead.
var repertoire = []step{
	writes(0), writes(1), writes(50), writes(100), writes(101), writes(5000), writes(200_000),
	heads("X-Header", "1"), heads("X-Header", "2"), heads("Trailer", "X-Sum"), heads("X-Sum", "1"), heads(http.TrailerPrefix+"X-Late", "1"),
	heads("Content-Type", "text/plain"),
	answers(http.StatusOK), answers(http.StatusNoContent), answers(http.StatusNotModified), answers(http.StatusServiceUnavailable), answers(http.StatusEarlyHints),
	reads(1), reads(100), reads(101), reads(1 << 20),
	{name: "flush", does: func(w http.ResponseWriter, _ *http.Request) string {
		_ = http.NewResponseController(w).Flush()
		return ""
	}},
	{name: "copy 3000", does: func(w http.ResponseWriter, _ *http.Request) string {
		_, _ = io.Copy(w, plainReader{strings.NewReader(strings.Repeat("x", 3000))})
		return ""
	}},
}

// plainReader hides that a reader can write itself.
type plainReader struct{ io.Reader }

// invent makes a play up. It does not read after a status above 299: there the HTTP/2 client of
// net/http stops sending, ends nothing, and both wait for each other, without a limit too.
func invent(random *rand.Rand) play {
	p := play{
		method: []string{http.MethodGet, http.MethodHead, http.MethodPost}[random.IntN(3)], chunked: random.IntN(2) == 0,
		steps: make([]step, random.IntN(7)),
	}
	if p.method == http.MethodPost {
		p.sends = []int{0, 1, 99, 100, 101, 5000, 500_000}[random.IntN(7)]
	}
	refused := false
	for i := range p.steps {
		next := repertoire[random.IntN(len(repertoire))]
		if next.reads && refused {
			next = writes(1)
		}
		refused = refused || next.status > 299
		p.steps[i] = next
	}
	return p
}

// An account is the view of the handler and the client of a play.
type account struct {
	handler  []string // by step
	informed []int
	answer   string
}

// perform plays behind a server, and gives up after a minute, which is none of the clock's in a
// bubble.
func (p play) perform(t *testing.T, http2 bool, wrap func(http.HandlerFunc) http.Handler) (a account) {
	t.Helper()
	ended := make(chan struct{})
	pipes := servePipes(t, wrap(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		_ = http.NewResponseController(w).EnableFullDuplex() // or HTTP/1 reads nothing after it wrote, unless it was read ahead
		for _, s := range p.steps {
			a.handler = append(a.handler, s.does(w, r))
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var informed []int
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { informed = append(informed, code); return nil },
	})
	req := must.Have(http.NewRequestWithContext(traced, p.method, "http://x/", nil))(t)
	if p.sends > 0 {
		req.Body = io.NopCloser(strings.NewReader(strings.Repeat("y", p.sends)))
		if req.ContentLength = int64(p.sends); p.chunked {
			req.ContentLength = -1
		}
	}
	res, err := pipes.client(t, http2).Do(req)
	if err == nil {
		body, broken := io.ReadAll(res.Body)
		res.Body.Close()
		a.answer = fmt.Sprint(res.StatusCode, " ", len(body), res.ContentLength, " ", broken != nil, res.Header["X-Header"], res.Header["Content-Type"], res.Trailer)
		err = broken
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("HTTP/2 %v, %v: the answer has no end within a minute", http2, p)
	}
	select {
	case <-ended:
	case <-ctx.Done():
		t.Errorf("HTTP/2 %v, %v: the handler does not end within a minute", http2, p)
	}
	a.informed = slices.Clone(informed)
	return a
}

// A handler and its client see no difference behind a limit, whatever the handler does.
// The bubble makes a play that hangs an error, and not a wait.
func TestHandlersBehindALimitAndWithout(t *testing.T) {
	plays, seed := 300, uint64(1)
	if longtest.All() && !race.Enabled {
		plays, seed = 3000, rand.Uint64()
	}
	for i := range plays {
		for _, http2 := range []bool{false, true} {
			p := invent(rand.New(rand.NewPCG(seed, uint64(i))))
			var accounts [2]account
			synctest.Test(t, func(t *testing.T) {
				accounts[0] = p.perform(t, http2, func(h http.HandlerFunc) http.Handler { return h })
			})
			synctest.Test(t, func(t *testing.T) {
				lim, streams := fixed(t, 1), fixed(t, 1)
				accounts[1] = p.perform(t, http2, func(h http.HandlerFunc) http.Handler {
					return configured(t, lim, weirhttp.Config{Streams: streams, RequestBuffer: 100, ResponseBuffer: 100}, h)
				})
			})
			if want, got := fmt.Sprint(accounts[0]), fmt.Sprint(accounts[1]); got != want {
				t.Errorf("HTTP/2 %v, seed %d, play %d, %v:\nwithout %s\nbehind  %s", http2, seed, i, p, want, got)
			}
			if t.Failed() {
				return
			}
		}
	}
}
