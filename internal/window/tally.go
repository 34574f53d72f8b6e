package window

import "math"

type events struct {
	samples, failures, timeouts, refused uint32

	waits uint32 // work that queued before it started
	first uint32 // work in flight at the beginning
	peak  uint32 // most work in flight at once

	carried       uint32 // successes of work that started under an earlier limit
	carriedFailed uint32 // failures and timeouts of such work
	held          uint32 // work that ended while the limit held work back
	weight        uint32 // weight of the work that succeeded
	overloaded    uint32 // work that the downstream refused
	late          uint32 // successes whose caller had left, whenever they started
	abandoned     uint32 // work whose caller left before it ended, likewise
}

// most is the largest value of a count: it fits an int on every machine. A look-back of an hour has
// room for half a million completions a second.
const most = math.MaxInt32

// plus adds counts, up to most.
func plus(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), most)) }

// bounded returns n as a count.
func bounded(n int) uint32 { return uint32(min(max(n, 0), most)) }

func (e *events) add(o events) {
	e.samples = plus(e.samples, o.samples)
	e.failures = plus(e.failures, o.failures)
	e.timeouts = plus(e.timeouts, o.timeouts)
	e.refused = plus(e.refused, o.refused)
	e.carried = plus(e.carried, o.carried)
	e.carriedFailed = plus(e.carriedFailed, o.carriedFailed)
	e.held = plus(e.held, o.held)
	e.weight = plus(e.weight, o.weight)
	e.overloaded = plus(e.overloaded, o.overloaded)
	e.late = plus(e.late, o.late)
	e.abandoned = plus(e.abandoned, o.abandoned)
	e.waits = plus(e.waits, o.waits)
	e.peak = max(e.peak, o.peak)
}

// A tally has the measurements of a generation, apart from the distribution of latencies. Times are
// in nanoseconds.
type tally struct {
	area      float64 // work in flight times time
	crowd     float64 // work in flight, squared, times time
	heldArea  float64 // the part of area in which the limit held work back
	saturated int64   // time in which the limit held work back
	sum       float64 // of latencies
	sojourns  float64 // latencies of all successes, whenever they started
	squares   float64 // of latencies
	least     int64   // least latency; undefined without samples
	waited    float64 // time in the queue
	events
}

func (t *tally) succeed(latency int64) {
	if t.samples == most {
		return
	}
	if t.samples == 0 || latency < t.least {
		t.least = latency
	}
	t.samples++
	v := float64(latency)
	t.sum += v
	t.squares += product(v, v)
}

func (t *tally) add(o tally) {
	if o.samples > 0 && (t.samples == 0 || o.least < t.least) {
		t.least = o.least
	}
	t.area += o.area
	t.crowd += o.crowd
	t.heldArea += o.heldArea
	t.saturated += o.saturated
	t.sum += o.sum
	t.sojourns += o.sojourns
	t.squares += o.squares
	t.waited += o.waited
	if n := uint64(t.samples) + uint64(o.samples); n > most { // so that the means stay the same
		part := most / float64(n)
		t.sum, t.squares = t.sum*part, t.squares*part
	}
	t.events.add(o.events)
}

// product returns a rounded product, to which its caller may add. Some machines would otherwise
// multiply and add in one step, with another result.
func product(a, b float64) float64 { return float64(a * b) }

func (t *tally) mean() float64 { return t.sum / float64(max(1, t.samples)) }

func (t *tally) deviation() float64 {
	mean := t.mean()
	return math.Sqrt(max(0, t.squares/float64(max(1, t.samples))-product(mean, mean)))
}
