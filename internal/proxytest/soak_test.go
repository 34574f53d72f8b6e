package proxytest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// soaking counts the requests of a soak and the answers that its clients got.
type soaking struct {
	sent, left atomic.Int64

	mu       sync.Mutex
	statuses map[int]int // 0 means a broken connection
}

// one sends a request of a random kind. A tenth of the clients leave after sending it.
func (s *soaking) one(client *http.Client, url string) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	leaves := rand.IntN(10) == 0
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err != nil {
			return
		}
		s.sent.Add(1)
		if leaves {
			s.left.Add(1)
			time.AfterFunc(rand.N(50*time.Millisecond), cancel)
		}
	}})
	r := mixed(url).WithContext(ctx)
	answer, err := client.Do(r)
	status := 0
	if err == nil {
		defer answer.Body.Close()
		if _, err = io.Copy(io.Discard, answer.Body); err == nil {
			status = answer.StatusCode
		}
	}
	if leaves {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses[status]++
}

// mixed returns a request of a random kind. No client or proxy may send any of them twice.
func mixed(url string) *http.Request {
	body := func(n int) io.Reader { return struct{ *strings.Reader }{strings.NewReader(strings.Repeat("x", n))} }
	paths := []struct {
		path string
		body int
	}{{"/work", 4}, {"/work", 4}, {"/work", 4}, {"/bytes?n=1024", 4}, {"/bytes?n=300000", 4}, {"/echo", 16 << 10}, {"/echo", 200 << 10}, {"/slow?for=300ms", 4}}
	kind := paths[rand.IntN(len(paths))]
	r, err := http.NewRequest(http.MethodPost, url+kind.path, body(kind.body))
	if err != nil {
		panic(err) // the paths are constants
	}
	r.ContentLength = int64(kind.body)
	return r
}

// TestSoak compares a proxy's counters with the requests sent while its upstream is killed
// and clients leave.
func TestSoak(t *testing.T) {
	trial(t)
	during, kills := either(8*time.Minute, 6*time.Second), either(10*time.Second, 2*time.Second)
	u := upstream{20, 20 * time.Millisecond, 60 * time.Millisecond}
	address := tcptest.FreeAddress(t)
	up := startUpstreamAt(t, u, address)
	p := newConfigured(t, up)
	p.write(t, "compartments:\n  api: {queue: {size: 20}}\n")
	p.start(t)
	must.Happen(t, "the upstream answers through the proxy", func() bool { status, _ := get(t, p.url+"/ready"); return status == 200 })
	pause(time.Second)
	before, files := p.counts(t), p.files(t)
	goroutines, heap := p.remains(t)

	s := &soaking{statuses: map[int]int{}}
	client := clients()
	ctx, stop := context.WithTimeout(t.Context(), during)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() {
		for wait(ctx, kills) {
			up.kill()
			pause(500 * time.Millisecond)
			up = startUpstreamAt(t, u, address)
		}
	})
	for rate := 1.2 * u.capacity(); wait(ctx, time.Duration(rand.ExpFloat64()/rate*float64(time.Second))); {
		all.Go(func() { s.one(client, p.url) })
	}
	all.Wait()
	client.CloseIdleConnections()

	must.Happen(t, "nothing is in flight", func() bool { f := p.counts(t); return f.InFlight == 0 && f.Queued == 0 })
	after := p.counts(t)
	tb := newTable(t, fmt.Sprintf("a soak of %v with kills of the upstream each %v", during, kills), "what", "how many")
	tb.row("sent", s.sent.Load())
	tb.row("clients that left", s.left.Load())
	tb.row("admitted", after.Admitted-before.Admitted)
	tb.row("refused", after.refused()-before.refused())
	tb.row("cancelled", after.Cancelled-before.Cancelled)
	for status, n := range s.statuses {
		tb.row(fmt.Sprintf("clients that saw %d", status), n)
	}
	if sent := float64(s.sent.Load()); after.asked()-before.asked() != sent {
		t.Errorf("admitted + refused + cancelled = %v, want the %v that were sent", after.asked()-before.asked(), sent)
	}
	if after.Admitted-before.Admitted != after.Completed-before.Completed {
		t.Errorf("%v were admitted and %v completed", after.Admitted-before.Admitted, after.Completed-before.Completed)
	}
	// Idle connections to the upstream are kept, so there are more after a soak than before.
	tb.row("files before", files)
	tb.row("files after", p.files(t))
	must.Happen(t, "the goroutines of the soak have ended", func() bool { now, _ := p.remains(t); return now <= goroutines+2*keptConnections })
	now, left := p.remains(t)
	tb.row("goroutines before", goroutines)
	tb.row("goroutines after", now)
	tb.row("heap in use before, MB", heap/1e6)
	tb.row("heap in use after, MB", left/1e6)
}

// keptConnections is the number of idle connections to the upstream that a soak may leave;
// each has two goroutines.
const keptConnections = 200

// counts are the sums of weir's limiters, without limiters that hold no slot
// for the upstream, such as the caps on streams.
type counts struct {
	Limit, Queued, Admitted, Cancelled, Completed float64
	InFlight                                      float64 `json:"in_flight"`
	Refused                                       map[string]float64
}

func (f counts) refused() (sum float64) {
	for _, n := range f.Refused {
		sum += n
	}
	return sum
}

func (f counts) asked() float64 { return f.Admitted + f.refused() + f.Cancelled }

func get(t testing.TB, url string) (status int, body string) {
	t.Helper()
	answer := must.Have(http.Get(url))(t)
	defer answer.Body.Close()
	text := must.Have(io.ReadAll(answer.Body))(t)
	return answer.StatusCode, string(text)
}

func (p peer) counts(t testing.TB) counts {
	t.Helper()
	status, text := get(t, p.admin+"/-/weir/snapshot")
	var state struct{ Total counts }
	if err := json.Unmarshal([]byte(text), &state); status != http.StatusOK || err != nil {
		t.Fatalf("weir's snapshot: status %d, %v", status, err)
	}
	return state.Total
}

func (p peer) seen(t testing.TB) (times map[string]int) {
	t.Helper()
	status, text := get(t, p.url+"/-/seen")
	if err := json.Unmarshal([]byte(text), &times); status != http.StatusOK || err != nil {
		t.Fatalf("/-/seen: status %d, %v", status, err)
	}
	return times
}
