package window

import "time"

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

// shelve moves the current generation to the past one. If it is too young to be the past
// alone, it joins the older one.
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
