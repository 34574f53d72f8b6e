package window

import (
	"math"
	"time"
)

// turn takes the steps that are due: it begins to measure, rotates the generations or drops the
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

// schedule sets when turn must run again. The past generation may have to be dropped before the
// next rotation, if a restart settles or has added to the past.
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
	m.current.first = bounded(inflight)
	m.current.peak = max(m.current.peak, bounded(inflight))
}

// rotate makes the current generation the past generation.
func (m *Meter) rotate(at int64, inflight int) {
	m.retire()
	m.from = at
	m.alone = false
	m.enter(inflight)
}

// retire replaces the past generation with the current generation, which becomes empty.
func (m *Meter) retire() {
	m.cold.past = m.current
	m.cold.from = m.from
	m.current = tally{}
	m.side = 1 - m.side
	m.latencies.clear(m.side)
}

// drop empties the past generation ahead of a rotation.
func (m *Meter) drop(at int64) {
	m.cold.past = tally{}
	m.cold.from = at
	m.alone = true
	m.latencies.clear(1 - m.side)
}

// forget empties both generations. Measurements begin now, or when the limit has settled.
func (m *Meter) forget(now int64) {
	m.drop(now)
	m.current = tally{}
	m.latencies.clear(m.side)
	m.from = max(m.from, now)
	m.begun = false
	m.schedule()
}

// Restart records that the limit changed, or that the law wants to measure afresh.
// Measurements start anew at now plus settle, and only work that starts from then on judges
// the limit.
func (m *Meter) Restart(now int64, settle time.Duration) {
	now = max(now, m.last)
	m.last = now
	m.shelve(now)
	m.from = now + min(max(int64(settle), 0), furthest)
	m.fence = m.from
	m.begun = false
	m.alone = true
	m.schedule()
}

// shelve makes the current generation the past. If the current generation is too young to be the
// past alone, it joins the older past.
func (m *Meter) shelve(now int64) {
	if now-m.from >= m.cold.lookback/4 {
		m.retire()
		return
	}
	m.cold.past.add(m.current)
	m.cold.from = min(m.cold.from, m.from)
	m.current = tally{}
	m.latencies.fold(m.side)
}

// TurnBack restarts the measurements from a time before the last time. Work in flight has an
// unknown start, and counts as begun before the restart.
func (m *Meter) TurnBack(now int64) {
	m.last, m.from, m.fence = now, now, now
	m.cold.from = now
	m.ages.turnBack(now)
	m.forget(now)
	if c := m.cumulative; c != nil {
		c.peak.until = min(c.peak.until, now+int64(PeakSpan))
	}
}

// beforeAll is the start of work that began before the clock was turned back.
const beforeAll = math.MinInt64
