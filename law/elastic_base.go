package law

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// A base is the latency of the work itself, without a queue of any limiter.
type base struct {
	latency   float64 // seconds, 0 before anything was measured
	known     bool    // it was measured without load, or by an ebb
	reference sums    // of the last windows
}

// A point is where on the curve a limiter was, with how many completions that is known.
type point struct{ n, x, latency, done float64 }

func (f flow) point() point { return point{f.n, f.x, f.latency, f.done} }

// sums are what windows measured, faded from one to the next.
type sums struct{ area, work, span, done float64 }

const keptReference = 0.6

func (s *sums) add(f flow) {
	s.area = float64(s.area*keptReference) + float64(f.latency*f.x*f.span)
	s.work = float64(s.work*keptReference) + float64(f.x*f.span)
	s.span = float64(s.span*keptReference) + f.span
	s.done = float64(s.done*keptReference) + f.done
}

func (s *sums) point() point {
	return point{s.area / s.span, s.work / s.span, s.area / s.work, s.done}
}

// hotLine is the latency, in bases, from which ticks come more often.
const hotLine = 1.7

func (b *base) hot(f flow) bool {
	return b.latency > 0 && min(b.reference.point().latency, f.latency) > hotLine*b.latency
}

// follow moves the base between ebbs: down by 0.3 of the difference, and up by less and only where
// the server has room.
func (b *base) follow(f flow, variation float64, room bool) {
	switch {
	case b.latency == 0:
		b.latency = f.latency
	case f.latency < b.latency:
		b.latency = min(b.latency, portable.Toward(b.latency, f.upperLatency(variation), 0.3))
	case room:
		b.latency = portable.Toward(b.latency, f.latency, 0.1)
	}
}

// Elasticities of the latency in an ebb, by how many percent it falls with 1% less concurrency:
// above queueing the ebb found a queue, below idling it found none.
const (
	queueing = 0.5
	idling   = 0.25
)

// rebase takes the latency of an ebb for the base. With queue as the elasticity of the latency,
// a higher base is believed only as far as there was no queue.
func (b *base) rebase(f flow, variation, queue float64) {
	seen := f.latency
	if seen < b.latency {
		seen = min(b.latency, f.upperLatency(variation))
	} else {
		seen = portable.Toward(b.latency, min(seen, 3*b.latency), min(max((queueing-queue)/(queueing-idling), 0), 1))
	}
	if math.Abs(portable.Log(seen/b.latency)) < 0.25 {
		seen = portable.Toward(b.latency, seen, 0.5)
	}
	b.latency, b.known = seen, true
}
