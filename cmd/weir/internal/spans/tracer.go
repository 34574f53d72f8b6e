package spans

import "math/rand/v2"

// A Tracer places requests in traces. A nil Tracer places none. Make one with [New]; it is safe for concurrent use.
type Tracer struct {
	sample float64
}

// New returns a tracer that has the spans of a share of all traces sent, from 0 to 1.
func New(sample float64) *Tracer { return &Tracer{sample: sample} }

// Start places a request by the values of its traceparent header. The flag of a trusted caller decides whether its span is sent.
// Without a sampled span the upstream's parent is the caller's span, or, where the trace begins here, one that is never sent.
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
		if rand.Float64() < t.sample {
			c.flags |= flagSampled
		}
	}
	if c.Sampled() || !told {
		c.Span = newSpanID()
	}
	return c
}
