package spans

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// A Tracer places requests in traces, and sends their spans while [Tracer.Run] runs. A nil Tracer
// places and sends none. Make one with [New]; it is safe for concurrent use.
type Tracer struct {
	endpoint string
	service  string
	client   *http.Client
	log      *slog.Logger

	sample atomic.Uint64 // a float64
	queue  chan Span

	sent, dropped, failed atomic.Uint64
	failing               bool // of the last batch; for Run
}

// New returns a tracer, or nil if the settings name no endpoint. The log says when the collector
// stops taking spans, and when it takes them again. The error says which setting is wrong.
func New(c config.Trace, log *slog.Logger) (*Tracer, error) {
	if c.Endpoint == "" {
		return nil, nil
	}
	to, err := url.Parse(c.Endpoint)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, fmt.Errorf("trace.endpoint is %q: want a URL such as http://127.0.0.1:4318/v1/traces", c.Endpoint)
	}
	t := &Tracer{
		endpoint: c.Endpoint, service: c.Service, queue: make(chan Span, queueSize),
		client: &http.Client{Timeout: sendTimeout}, log: log,
	}
	t.SetSample(c.Sample)
	return t, nil
}

// SetSample changes the share of the traces that begin here of which spans are sent, from 0 to 1.
func (t *Tracer) SetSample(share float64) {
	if t != nil {
		t.sample.Store(math.Float64bits(share))
	}
}

// Start places a request by the values of its traceparent header. The flag of a trusted caller
// decides whether its span is sent. A trace that begins here has a span for the upstream's parent
// even if that is not sent.
func (t *Tracer) Start(traceparent []string, trusted bool) Context {
	if t == nil {
		return Context{}
	}
	c, told := Parse(traceparent)
	if !told {
		c = begin()
	}
	if !told || !trusted {
		c.flags &^= flagSampled
		if rand.Float64() < math.Float64frombits(t.sample.Load()) {
			c.flags |= flagSampled
		}
	}
	if c.Sampled() || !told {
		c.Span = newSpanID()
	}
	return c
}

// End sends the span of a request that was sampled, later: it never waits. A span that finds the
// queue full is dropped.
func (t *Tracer) End(s Span) {
	if t == nil || !s.Context.Sampled() {
		return
	}
	select {
	case t.queue <- s:
	default:
		t.dropped.Add(1)
	}
}

// Counts are what became of sampled spans.
type Counts struct {
	Sent    uint64 // the collector took them
	Dropped uint64 // the queue was full
	Failed  uint64 // the collector did not take them
}

// Counts returns the counts since the start.
func (t *Tracer) Counts() Counts {
	if t == nil {
		return Counts{}
	}
	return Counts{t.sent.Load(), t.dropped.Load(), t.failed.Load()}
}
