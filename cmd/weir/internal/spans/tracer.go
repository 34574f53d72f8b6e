package spans

import (
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"sync/atomic"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

// A Tracer assigns requests to traces, and sends their spans while [Tracer.Run] runs. A nil
// Tracer does neither. Create one with [New]; it is safe for concurrent use.
type Tracer struct {
	endpoint string
	service  string
	client   *http.Client
	log      *slog.Logger

	sample atomic.Uint64 // a float64
	queue  chan Span

	sent, dropped, failed atomic.Uint64
	failing               bool // whether the last batch failed; used by Run
}

// New returns a tracer, or nil if the settings of a complete configuration name no endpoint. It
// logs when the collector stops or resumes accepting spans.
func New(c config.Trace, log *slog.Logger) *Tracer {
	if c.Endpoint == "" {
		return nil
	}
	t := &Tracer{
		endpoint: c.Endpoint, service: c.Service, queue: make(chan Span, queueSize),
		client: &http.Client{Timeout: sendTimeout}, log: log,
	}
	t.SetSample(c.Sample)
	return t
}

// SetSample changes the share of traces whose spans are sent, from 0 to 1. A trusted caller decides
// about its own trace.
func (t *Tracer) SetSample(share float64) {
	if t != nil {
		t.sample.Store(math.Float64bits(share))
	}
}

// Start assigns a request to a trace by the values of its traceparent header. The flag of a
// trusted caller decides whether its span is sent. A request that begins a trace gets a span
// ID for the upstream's parent even if its span is not sent.
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

// End queues the span of a sampled request. It never waits: if the queue is full, the span is
// dropped.
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

// Counts are the numbers of sampled spans by result.
type Counts struct {
	Sent    uint64 // accepted by the collector
	Dropped uint64 // because the queue was full
	Failed  uint64 // not accepted by the collector
}

// Counts returns the counts since the start.
func (t *Tracer) Counts() Counts {
	if t == nil {
		return Counts{}
	}
	return Counts{t.sent.Load(), t.dropped.Load(), t.failed.Load()}
}
