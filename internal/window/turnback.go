package window

import "math"

// TurnBack restarts the measurements from a time before the last one. The work in flight
// counts as begun before it, at an unknown time.
func (m *Meter) TurnBack(now int64) {
	m.last, m.from, m.fence = now, now, now
	m.cold.from = now
	m.ages.turnBack(now)
	m.forget(now)
	if c := m.cumulative; c != nil {
		c.peak.until = min(c.peak.until, now+int64(PeakSpan))
	}
}

// turnBack makes all work in flight count as begun now.
func (a *ages) turnBack(now int64) {
	if a.n == 0 {
		return
	}
	sum := uint32(0)
	for i := range a.n {
		sum += a.counts[i]
	}
	*a = noAges()
	a.append(now)
	a.counts[0] = sum
	a.latest = uint32(now)
}

// beforeAll is the start of work that began before the clock was turned back.
const beforeAll = math.MinInt64
