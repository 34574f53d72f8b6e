package window

import "time"

// Restart says that the limit changed, or that the law wants to measure afresh: what
// follows is measured anew from now plus settle on, and only what started by then
// judges the limit.
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

// shelve empties the current generation in favour of the past one. If it is too young
// to represent the past alone, it joins the older one.
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
