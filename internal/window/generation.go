package window

import "math"

// A tally is the measurements of the current generation, apart from the distribution of
// latencies. Times are in nanoseconds.
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

	samples, failures, timeouts, refused uint32

	waits uint32 // work that queued before it started
	peak  uint32 // most work in flight at once

	carried       uint32 // successes of work that started under an earlier limit
	carriedFailed uint32 // failures and timeouts of such work
	held          uint32 // work that ended while the limit held work back
	weight        uint32 // of the work that succeeded
	overloaded    uint32 // work that the downstream refused
}

// most is the largest value of a count: it fits an int on every machine. A look-back of an
// hour has room for half a million a second.
const most = math.MaxInt32

// plus adds counts, up to most.
func plus(a, b uint32) uint32 { return uint32(min(uint64(a)+uint64(b), most)) }

// bounded returns n as a count.
func bounded(n int) uint32 { return uint32(min(max(n, 0), most)) }

// succeed counts a success.
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

// add adds the counts of another tally.
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
	t.samples = plus(t.samples, o.samples)
	t.failures = plus(t.failures, o.failures)
	t.timeouts = plus(t.timeouts, o.timeouts)
	t.refused = plus(t.refused, o.refused)
	t.carried = plus(t.carried, o.carried)
	t.carriedFailed = plus(t.carriedFailed, o.carriedFailed)
	t.held = plus(t.held, o.held)
	t.weight = plus(t.weight, o.weight)
	t.overloaded = plus(t.overloaded, o.overloaded)
	t.waits = plus(t.waits, o.waits)
	t.peak = max(t.peak, o.peak)
}

// product is rounded before anything is added to it. Some machines would otherwise compute
// both in one step, with another result.
func product(a, b float64) float64 { return float64(a * b) }

func (t *tally) mean() float64 { return t.sum / float64(max(1, t.samples)) }

// deviation is the standard deviation of the latencies.
func (t *tally) deviation() float64 {
	mean := t.mean()
	return math.Sqrt(max(0, t.squares/float64(max(1, t.samples))-product(mean, mean)))
}

// A summary is a tally in 80 bytes. It keeps mean and deviation rather than the two sums,
// whose difference would be lost in the rounding to 32 bits.
type summary struct {
	area, crowd, heldArea, saturated, waited float32
	mean, deviation, least, sojourns         float32

	samples, failures, timeouts, refused, waits, peak uint32
	carried, carriedFailed, held, weight, overloaded  uint32
}

func summarize(t *tally) summary {
	return summary{
		area: float32(t.area), crowd: float32(t.crowd), heldArea: float32(t.heldArea),
		saturated: float32(t.saturated), waited: float32(t.waited),
		mean: float32(t.mean()), deviation: float32(t.deviation()),
		least: float32(t.least), sojourns: float32(t.sojourns),
		samples: t.samples, failures: t.failures, timeouts: t.timeouts,
		refused: t.refused, waits: t.waits, peak: t.peak,
		carried: t.carried, carriedFailed: t.carriedFailed, held: t.held, weight: t.weight,
		overloaded: t.overloaded,
	}
}

func (s *summary) tally() tally {
	n, mean, deviation := float64(s.samples), float64(s.mean), float64(s.deviation)
	return tally{
		area: float64(s.area), crowd: float64(s.crowd), heldArea: float64(s.heldArea),
		saturated: int64(s.saturated), waited: float64(s.waited),
		sum: product(n, mean), squares: product(n, product(mean, mean)+product(deviation, deviation)),
		least:    int64(s.least),
		sojourns: float64(s.sojourns),
		samples:  s.samples, failures: s.failures, timeouts: s.timeouts,
		refused: s.refused, waits: s.waits, peak: s.peak,
		carried: s.carried, carriedFailed: s.carriedFailed, held: s.held, weight: s.weight,
		overloaded: s.overloaded,
	}
}

func (s *summary) add(o tally) {
	t := s.tally()
	t.add(o)
	*s = summarize(&t)
}

// turn does the work that is due: it begins to measure, rotates the generations and drops the
// past, each at its own time.
func (m *Meter) turn(now int64, inflight int, saturated bool) {
	if now-m.last > m.cold.lookback {
		m.last = now
		m.forget(now)
	}
	for now >= m.due {
		at := max(m.due, m.last) // a look-back made shorter may be due in the past
		m.book(at, inflight, saturated)
		switch {
		case !m.begun && at >= m.from:
			m.begin(inflight)
		case m.begun && at >= m.from+m.cold.lookback/2:
			m.rotate(at, inflight)
		default:
			m.drop(at)
		}
		m.schedule()
	}
}

// schedule sets when turn must run again. The past generation may have to go before the next
// rotation: after a restart that settles, or that added to it.
func (m *Meter) schedule() {
	next := m.from
	if m.begun {
		next += m.cold.lookback / 2
	}
	m.due = min(next, m.cold.from+m.cold.lookback)
}

func (m *Meter) begin(inflight int) {
	m.begun = true
	m.enter(inflight)
}

// enter notes the work in flight at the beginning of the current generation.
func (m *Meter) enter(inflight int) {
	m.first[m.side] = bounded(inflight)
	m.current.peak = max(m.current.peak, bounded(inflight))
}

// rotate makes the current generation the past one.
func (m *Meter) rotate(at int64, inflight int) {
	m.retire()
	m.from = at
	m.alone = false
	m.enter(inflight)
}

// retire replaces the past generation with the current one and empties that.
func (m *Meter) retire() {
	m.cold.past = summarize(&m.current)
	m.cold.from = m.from
	m.current = tally{}
	m.side = 1 - m.side
	m.latencies.clear(m.side)
}

// drop empties the past generation ahead of a rotation.
func (m *Meter) drop(at int64) {
	m.cold.past = summary{}
	m.cold.from = at
	m.alone = true
	m.latencies.clear(1 - m.side)
}

// forget empties both generations, to measure from now on or from the end of settling.
func (m *Meter) forget(now int64) {
	m.drop(now)
	m.current = tally{}
	m.latencies.clear(m.side)
	m.from = max(m.from, now)
	m.begun = false
	m.schedule()
}
