package weir

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/histogram"
)

// exemplars samples the first work that is admitted after a pause of sampleEvery. The latency is
// not known then, and a permit has no room for a context, so slow work is not preferred. Instead
// each octave keeps its latest exemplar, so frequent latencies do not displace the exemplars of
// rare latencies.
type exemplars struct {
	label func(context.Context) string
	next  atomic.Int64 // when the next sample is due
	kept  atomic.Pointer[histogram.Snapshot]
}

// sampleEvery bounds the cost of exemplars: at ten requests a second or more, a request of the
// slowest thousandth is sampled every 100 s.
const sampleEvery = int64(100 * time.Millisecond)

func newExemplars(label func(context.Context) string) *exemplars {
	if label == nil {
		return nil
	}
	return &exemplars{label: label}
}

// due reports whether to sample work that starts now. It returns true once for each sample.
// If the next sample is more than sampleEvery ahead, the clock was turned back.
func (e *exemplars) due(at int64) bool {
	next := e.next.Load()
	return (at >= next || next-at > sampleEvery) && e.next.CompareAndSwap(next, at+sampleEvery)
}

// sample returns a permission for work that was just admitted. If an exemplar is due, the
// permission keeps one when the work succeeds.
func (e *exemplars) sample(ctx context.Context, start int64, allowed permission) permission {
	if e == nil || !e.due(start) {
		return allowed
	}
	label := e.label(ctx)
	if label == "" {
		return allowed
	}
	return func(o Outcome) {
		if o == Success {
			e.keep(histogram.Exemplar{Label: label, Value: time.Duration(max(0, now()-start)), At: time.Now()})
		}
		allowed.report(o)
	}
}

// keep keeps an exemplar in place of the last exemplar of its octave.
func (e *exemplars) keep(x histogram.Exemplar) {
	one := &histogram.Snapshot{Exemplars: []histogram.Exemplar{x}}
	for {
		kept := e.kept.Load()
		if e.kept.CompareAndSwap(kept, kept.Add(one)) {
			return
		}
	}
}
