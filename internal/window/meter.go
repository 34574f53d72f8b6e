package window

import (
	"math"
	"time"
)

// An Outcome is the result of a piece of work.
type Outcome uint8

// The outcomes.
const (
	Success Outcome = iota
	Failure
	Timeout
	Ignore     // not counted
	Overloaded // the downstream refused it
	Late       // a Success whose caller had left
	Abandoned  // its caller left before it ended
)

const (
	smoothing = 16                // one latency's weight in the moving average is 1/16
	unseeded  = float32(-1)       // a moving average without a latency
	furthest  = math.MaxInt64 / 8 // no latency, look-back or settling counts as longer
)

// A Meter measures the work of one limiter. Use [New] to make one; it is not safe
// for concurrent use.
type Meter struct {
	last int64 // time up to which the work in flight is booked
	from int64 // start of the current generation; may be ahead
	due  int64 // when turn must run next

	fence int64 // work that started before it does not judge the limit

	current tally
	ages    ages

	latencies sketch
	cold      *cold

	cumulative *Cumulative // nil unless asked for

	average float32 // moving average of latency
	beside  uint32  // work in flight outside the meter
	side    uint8   // the current generation's side of the sketch
	begun   bool    // the time is past from
	alone   bool    // the law sees the current generation only
	held    bool    // the limit held work back until the last call of Flow
}

// cold is the part of a Meter that only turns, restarts and reads touch.
type cold struct {
	past     tally
	from     int64 // nothing in past is older
	lookback int64
}

// New returns a Meter that measures from now on.
func New(now int64, lookback time.Duration) *Meter {
	m := &Meter{last: now, fence: math.MinInt64, ages: noAges(), average: unseeded, cold: new(cold)}
	m.cold.lookback = span(lookback)
	m.forget(now)
	return m
}

// SetBeside sets the work in flight outside the meter. This work only counts for the peak of
// [Cumulative].
func (m *Meter) SetBeside(weight int) { m.beside = bounded(weight) }

// SetLookback changes the look-back. The next call of Flow drops measurements older than the new
// look-back.
func (m *Meter) SetLookback(lookback time.Duration) {
	m.cold.lookback = span(lookback)
	m.schedule()
}

// span returns a look-back that can be halved and added to any time.
func span(lookback time.Duration) int64 { return min(max(int64(lookback), 2), furthest) }

// Flow books the time since the last call, with the given work in flight, and whether the
// limit held work back.
func (m *Meter) Flow(now int64, inflight int, saturated bool) {
	if now >= m.due {
		m.turn(now, inflight, saturated)
	}
	m.book(now, inflight, saturated)
	m.held = saturated
	if m.cumulative != nil {
		m.cumulative.peak.pass(now, inflight+int(m.beside))
	}
}

func (m *Meter) book(now int64, inflight int, saturated bool) {
	elapsed := now - max(m.last, m.from)
	m.last = max(m.last, now)
	if elapsed <= 0 {
		return
	}
	area := product(float64(elapsed), float64(inflight))
	m.current.area += area
	m.current.crowd += product(area, float64(inflight))
	if saturated {
		m.current.saturated += elapsed
		m.current.heldArea += area
	}
}

// Start records that a piece of work starts. The work in flight includes that piece.
func (m *Meter) Start(now int64, inflight int) {
	m.Rise(inflight)
	m.ages.begin(now, now < m.last)
}

// Rise records the work in flight.
func (m *Meter) Rise(inflight int) {
	if m.last >= m.from {
		m.current.peak = max(m.current.peak, bounded(inflight))
	}
	if m.cumulative != nil {
		m.cumulative.peak.rise(inflight + int(m.beside))
	}
}

// Waited records the time in the queue of the work that starts now.
func (m *Meter) Waited(wait int64) {
	m.add(tally{events: events{waits: 1}, waited: float64(wait)})
}

// Refused records that work was refused now.
func (m *Meter) Refused() { m.add(tally{events: events{refused: 1}}) }

// add counts an event of this moment. While the meter settles, the event counts for the past.
func (m *Meter) add(t tally) {
	if m.last < m.from {
		m.cold.past.add(t)
		return
	}
	m.current.add(t)
}

// Done records that work of the given weight and start has ended. A start that lies ahead means
// that the clock was turned back: the latency is then unknown.
func (m *Meter) Done(start, now int64, weight int, o Outcome) {
	if start > m.last {
		start, o = beforeAll, Ignore
	}
	m.ages.end(start)
	late := o == Late
	if late {
		o = Success
	}
	if m.last >= m.from && o == Abandoned {
		m.current.abandoned = plus(m.current.abandoned, 1)
	}
	if m.last >= m.from && o != Ignore && o != Overloaded && o != Abandoned {
		m.ended(start, now, weight, o)
		if late || o == Timeout {
			m.current.late = plus(m.current.late, 1)
		}
	}
	if o != Success {
		m.fail(start, o)
		return
	}
	latency := min(max(now-start, 0), furthest)
	m.smooth(float32(latency))
	if m.cumulative != nil {
		m.cumulative.Latencies.add(time.Duration(latency))
	}
	if start < m.fence {
		m.straggle(latency)
		return
	}
	m.current.succeed(latency)
	m.latencies.add(m.side, latency)
}

// ended counts work that ended in the current generation, whenever it started.
func (m *Meter) ended(start, now int64, weight int, o Outcome) {
	if m.held {
		m.current.held = plus(m.current.held, 1)
	}
	if o == Success {
		m.current.weight = plus(m.current.weight, bounded(weight))
		m.current.sojourns += float64(max(now-start, 0))
	}
	switch {
	case start >= m.fence:
	case o == Success:
		m.current.carried = plus(m.current.carried, 1)
	default:
		m.current.carriedFailed = plus(m.current.carriedFailed, 1)
	}
}

func (m *Meter) smooth(latency float32) {
	if m.average == unseeded {
		m.average = latency
		return
	}
	m.average += float32((latency - m.average) / smoothing)
}

// straggle counts a success of work that started under an earlier limit: in the past generation if
// the law does not see that generation, and otherwise not at all.
func (m *Meter) straggle(latency int64) {
	if !m.alone {
		return
	}
	var t tally
	t.succeed(latency)
	m.cold.past.add(t)
	m.latencies.add(1-m.side, latency)
}

// fail counts work that did not succeed.
func (m *Meter) fail(start int64, o Outcome) {
	var t tally
	switch o {
	case Failure:
		t.failures = 1
	case Timeout:
		t.timeouts = 1
	case Overloaded:
		t.overloaded = 1
	default:
		return
	}
	switch {
	case start >= m.fence:
		m.current.add(t)
	case m.alone:
		m.cold.past.add(t)
	}
}
