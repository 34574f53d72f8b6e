package spans

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/internal/must"
)

func tracer(share float64) *Tracer {
	return New(config.Trace{Endpoint: "http://collector.example/v1/traces", Sample: share, Service: "shop"}, slog.New(slog.DiscardHandler))
}

// A collector answers with the statuses in turn, then repeats the last; 0 means no answer.
type collector struct {
	statuses []int
	mu       sync.Mutex
	batches  []int
}

func (c *collector) seen() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.batches)
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	if kind := r.Header.Get("Content-Type"); r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || kind != "application/json" || !json.Valid(body) {
		return nil, fmt.Errorf("%s %s with %s", r.Method, r.URL.Path, kind)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, bytes.Count(body, []byte(`"spanId"`)))
	status := c.statuses[0]
	if len(c.statuses) > 1 {
		c.statuses = c.statuses[1:]
	}
	if status == 0 {
		return nil, errors.New("no route to host")
	}
	return &http.Response{StatusCode: status, Body: http.NoBody}, nil
}

func running(t *testing.T, c http.RoundTripper) (tr *Tracer, end func()) {
	tr = tracer(1)
	tr.client.Transport = c
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { tr.Run(ctx) })
	return tr, func() { cancel(); work.Wait() }
}

func (t *Tracer) end(n int) {
	for range n {
		t.End(Span{Context: t.Start(nil, false)})
	}
}

func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{statuses: []int{200}}
		tr, end := running(t, c)
		tr.end(batchSize + 3)
		synctest.Wait()
		if got := c.seen(); !slices.Equal(got, []int{batchSize}) {
			t.Errorf("a full batch goes at once: %v", got)
		}
		time.Sleep(batchTime)
		synctest.Wait()
		if got := c.seen(); !slices.Equal(got, []int{batchSize, 3}) {
			t.Errorf("the rest goes after a time: %v", got)
		}
		time.Sleep(3 * batchTime)
		tr.end(2)
		end()
		if got := c.seen(); !slices.Equal(got, []int{batchSize, 3, 2}) {
			t.Errorf("what is left goes at the end, and nothing goes alone: %v", got)
		}
		if got := tr.Counts(); got != (Counts{Sent: batchSize + 5}) {
			t.Errorf("%+v", got)
		}
	})
}

// An outage of the collector logs two lines, however long it is.
func TestOutageIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collector := &collector{statuses: []int{0, 500, 500, 202, 202}}
		tr, end := running(t, collector)
		said := new(bytes.Buffer)
		tr.log = slog.New(slog.NewTextHandler(said, nil))
		for range 5 {
			tr.end(1)
			time.Sleep(batchTime)
		}
		end()
		text := said.String()
		if strings.Count(text, "\n") != 2 || !strings.Contains(text, "spans are lost") || !strings.Contains(text, "no route to host") ||
			!strings.Contains(text, "taken again") {
			t.Errorf("the log is\n%s", text)
		}
		if got := tr.Counts(); got != (Counts{Sent: 2, Failed: 3}) {
			t.Errorf("%+v", got)
		}
	})
}

// While the collector hangs, spans are dropped and requests proceed.
func TestCollectorHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, end := running(t, hangs{})
		began := time.Now()
		tr.end(batchSize)
		synctest.Wait()
		tr.end(queueSize + 7)
		if waited := time.Since(began); waited != 0 {
			t.Errorf("requests waited %v", waited)
		}
		if got := tr.Counts(); got.Dropped != 7 {
			t.Errorf("%+v, want 7 dropped", got)
		}
		ended := time.Now()
		end()
		if took := time.Since(ended); took > sendTimeout {
			t.Errorf("the end took %v", took)
		}
	})
}

type hangs struct{}

func (hangs) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestOnlySampledSpansAreSent(t *testing.T) {
	tr := tracer(0)
	tr.end(queueSize + 1)
	(*Tracer)(nil).End(Span{})
	if got := tr.Counts(); New(config.Trace{}, nil) != nil || got.Dropped != 0 || len(tr.queue) != 0 || (*Tracer)(nil).Counts() != (Counts{}) {
		t.Errorf("%+v, %d in the queue", got, len(tr.queue))
	}
}

var update = flag.Bool("update", false, "write testdata/export.json")

// all returns spans with every field set. internal/promcheck decodes their encoding with the
// official types.
func all(t *testing.T) []Span {
	t.Helper()
	start := time.Unix(1_700_000_000, 5).UTC()
	place := func(parent bool) (c Context) {
		c, ok := Parse([]string{given})
		if !ok {
			t.Fatal("given is not valid")
		}
		c.Span = SpanID{1, 2, 3, 4, 5, 6, 7, 8}
		if !parent {
			c.Parent = SpanID{}
		}
		return c
	}
	return []Span{
		{
			Context: place(true), Start: start, End: start.Add(30 * time.Millisecond), Method: "GET", Path: "/search/<x>", Host: "shop.example", Proto: "https",
			Client: "198.51.100.7", Status: 200,
			Record: Record{Route: "/search/{term}", Compartment: "search", Upstream: "http://10.0.0.9:80", Waited: 12 * time.Millisecond},
		},
		{
			Context: place(false), Start: start, End: start.Add(time.Millisecond), Method: "BREW", Path: "/\xff", Proto: "http",
			Client: "2001:db8::7", Status: 503, Record: Record{Compartment: "search", Refused: &weir.RefusedError{Limiter: "search", Reason: weir.ReasonQueueFull}},
		},
		{Context: place(false), Start: start, End: start, Method: "POST", Path: "/", Proto: "http"},
	}
}

func TestEncoding(t *testing.T) {
	var got bytes.Buffer
	must.Do(t, json.Indent(&got, encode("shop", all(t)), "", "  "))
	got.WriteByte('\n')
	must.Golden(t, "testdata/export.json", got.Bytes(), *update)
}
