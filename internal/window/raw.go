package window

import (
	"math/bits"
	"time"
)

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

// A Total sums the measurements of several meters within their look-backs, as if they were one
// meter. The zero Total is empty.
type Total struct {
	tally   tally
	counts  [64 - lowestOctave][cells]uint64
	average float64 // sum of the moving averages, each times its samples
}

// Add adds the measurements of one meter.
func (t *Total) Add(r *Raw) {
	t.tally.add(r.tally)
	t.average += product(float64(r.average), float64(r.tally.samples))
	at := 0
	for o := r.sketch.octaves; o != 0; o &= o - 1 {
		octave := bits.TrailingZeros64(o)
		c := r.sketch.find(octave + lowestOctave)
		for i := range cells {
			t.counts[octave][i] += count(r.sides, &r.sketch.rows[at], c, i)
		}
		at++
	}
}

// Recent returns the total. Its moving average is the mean of the moving averages of the meters,
// weighted by samples.
func (t *Total) Recent() Recent {
	return summed(&t.tally, t.quantile, round(t.average/float64(max(1, t.tally.samples))))
}

// quantile returns the nearest-rank quantile of all meters.
func (t *Total) quantile(q float64) time.Duration {
	left := rank(q, uint64(t.tally.samples))
	for octave := range t.counts {
		for i, n := range t.counts[octave] {
			if n > 0 && n >= left {
				return middle(octave+lowestOctave, i)
			}
			left -= n
		}
	}
	return 0
}
