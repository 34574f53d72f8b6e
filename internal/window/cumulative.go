package window

import "time"

// Cumulative has a meter's measurements since the meter began to accumulate. It forgets only peaks.
// The zero Cumulative is empty.
type Cumulative struct {
	Latencies Counts // of successes, also of work that started under an earlier limit
	Waits     Counts // in the queue, of the work that was admitted after it waited
	peak      peak
}

// NewCumulative returns a Cumulative with room for a copy of most Cumulatives without an
// allocation, because a meter is copied under a lock. Latencies seldom spread over more than twelve
// octaves, a factor of 4096.
func NewCumulative() *Cumulative {
	const octaves = 12
	return &Cumulative{
		Latencies: Counts{rows: make([][perRow]uint64, 0, octaves)},
		Waits:     Counts{rows: make([][perRow]uint64, 0, octaves)},
	}
}

// Peak is the most that was in flight in the current [PeakSpan] and the span before it.
func (c *Cumulative) Peak() int { return int(max(c.peak.now, c.peak.before)) }

// Accumulate begins to measure a [Cumulative], or ends the measurement and forgets the result.
func (m *Meter) Accumulate(on bool, inflight int) {
	switch {
	case !on:
		m.cumulative = nil
	case m.cumulative == nil:
		m.cumulative = &Cumulative{peak: newPeak(m.last, inflight)}
	}
}

// CopyTo copies the meter's measurements to c, and changes nothing in the meter.
func (m *Meter) CopyTo(c *Cumulative, now int64, inflight int) {
	if m.cumulative == nil {
		return
	}
	c.Latencies.copyFrom(&m.cumulative.Latencies)
	c.Waits.copyFrom(&m.cumulative.Waits)
	c.peak = m.cumulative.peak
	c.peak.pass(max(now, m.last), inflight)
}

// Queued records the time in the queue of the work that starts now, for any reason.
func (m *Meter) Queued(wait int64) {
	if m.cumulative != nil {
		m.cumulative.Waits.add(time.Duration(wait))
	}
}

// PeakSpan is the longest interval between two reads that see all peaks. Scrapers read every 10 to
// 60 seconds.
const PeakSpan = time.Minute

// A peak is the most work in flight in the current span and in the span before it. A read does not
// reset a peak, so it serves any number of readers.
type peak struct {
	until       int64 // when the current span ends
	now, before uint32
}

func newPeak(now int64, inflight int) peak {
	return peak{until: now + int64(PeakSpan), now: bounded(inflight)}
}

// pass books the time until now, with the given work in flight.
func (p *peak) pass(now int64, inflight int) {
	if now >= p.until {
		p.turn(now, inflight)
	}
}

// turn begins a span. The work in flight has not changed since before the last span ended.
func (p *peak) turn(now int64, inflight int) {
	if late := now - p.until; late >= int64(PeakSpan) {
		*p = newPeak(now-late%int64(PeakSpan), inflight)
		p.before = p.now
		return
	}
	p.before, p.now = p.now, bounded(inflight)
	p.until += int64(PeakSpan)
}

// rise records the work in flight now.
func (p *peak) rise(inflight int) { p.now = max(p.now, bounded(inflight)) }
