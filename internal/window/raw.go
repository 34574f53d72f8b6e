package window

import "time"

// A Raw is a copy of a meter's measurements within its look-back. A reader copies it under
// the lock of a limiter and evaluates it without the lock: quantiles take longer than the
// copy. Use [NewRaw] to make one.
type Raw struct {
	tally   tally
	sides   sides
	sketch  sketch
	carries []carry
	average time.Duration
}

// NewRaw returns a Raw that has room to copy most meters without allocating.
func NewRaw() *Raw {
	const octaves = 12 // a factor of 4096 between latencies
	return &Raw{sketch: sketch{rows: make([]row, 0, octaves)}, carries: make([]carry, 0, octaves)}
}

// Clear empties r and keeps its memory.
func (r *Raw) Clear() {
	*r = Raw{sketch: sketch{rows: r.sketch.rows[:0]}, carries: r.carries[:0]}
}

// CopyRecent copies the meter's measurements within the look-back to r, and changes nothing
// in the meter.
func (m *Meter) CopyRecent(r *Raw, now int64) {
	r.tally, r.sides = m.recent(now)
	r.average = m.EWMA()
	r.sketch.rows = append(r.sketch.rows[:0], m.latencies.rows...)
	r.sketch.octaves = m.latencies.octaves
	r.carries = r.carries[:0]
	for c := m.latencies.carries; c != nil; c = c.next {
		r.carries = append(r.carries, *c)
	}
	r.sketch.carries = nil
	for i := range r.carries {
		r.carries[i].next, r.sketch.carries = r.sketch.carries, &r.carries[i]
	}
}

// Recent evaluates the measurements for a snapshot.
func (r *Raw) Recent() Recent {
	return summed(&r.tally, func(q float64) time.Duration {
		return r.sketch.ranked(r.sides, rank(q, uint64(r.tally.samples)))
	}, r.average)
}
