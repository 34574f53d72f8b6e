package window

import (
	"math/bits"
	"time"
)

// A Total sums the measurements of several meters within their look-backs, as if they were
// one. The zero Total is empty.
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

// Recent returns the total. Its moving average is that of the meters, by samples.
func (t *Total) Recent() Recent {
	return summed(&t.tally, t.quantile, round(t.average/float64(max(1, t.tally.samples))))
}

// quantile returns the nearest-rank quantile.
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
