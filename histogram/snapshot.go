package histogram

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"
)

// A Snapshot is a histogram at one moment. It belongs to its reader. The zero Snapshot is an
// empty histogram.
type Snapshot struct {
	Count     uint64     `json:"count"`               // number of durations
	Sum       float64    `json:"sum_seconds"`         // sum of the durations, in seconds
	Buckets   []Bucket   `json:"buckets"`             // without empty buckets, by ascending Index
	Exemplars []Exemplar `json:"exemplars,omitempty"` // by ascending Value, at most one an octave
}

// A Bucket is one bucket of a histogram.
type Bucket struct {
	Index int    `json:"index"` // as in a Prometheus native histogram of Schema 3
	Count uint64 `json:"count"` // number of durations, of this bucket alone
}

// Bounds returns the bounds of the bucket in seconds. The lower bound is not in the bucket, and the
// upper bound is.
func (b Bucket) Bounds() (lower, upper float64) { return bound(b.Index - 1), bound(b.Index) }

// An Exemplar is one of the durations, with a label that leads to the request.
type Exemplar struct {
	Label string        `json:"label"`    // such as the identifier of a trace
	Value time.Duration `json:"value_ns"` // the duration
	At    time.Time     `json:"at"`       // when it was measured
}

// Quantile returns the duration that the share q of all durations did not exceed, to within 4.4%.
// It uses the nearest rank, for q from 0 to 1, and returns 0 if there are no durations.
func (s *Snapshot) Quantile(q float64) time.Duration {
	rank := math.Ceil(q * float64(s.Count))
	var seen uint64
	for _, b := range s.Buckets {
		seen += b.Count
		if !(float64(seen) < rank) || seen == s.Count { // also if q is NaN
			return b.middle()
		}
	}
	return 0
}

// middle is the harmonic mean of the bounds.
func (b Bucket) middle() time.Duration {
	lower, upper := b.Bounds()
	seconds := 2 * lower * upper / (lower + upper)
	return time.Duration(float64(seconds*float64(time.Second)) + 0.5)
}

// Add returns a histogram of the durations of both snapshots, and changes neither snapshot. A nil
// Snapshot adds nothing; the sum of two nil Snapshots is nil. If both have an exemplar in an
// octave, the sum keeps the later exemplar.
func (s *Snapshot) Add(o *Snapshot) *Snapshot {
	if s == nil && o == nil {
		return nil
	}
	sum := &Snapshot{}
	for _, part := range []*Snapshot{s, o} {
		if part == nil {
			continue
		}
		sum.Count += part.Count
		sum.Sum += part.Sum
		sum.Buckets = merged(sum.Buckets, part.Buckets)
		sum.Exemplars = append(sum.Exemplars, part.Exemplars...)
	}
	sum.Exemplars = latest(sum.Exemplars)
	return sum
}

// merged returns the buckets of both lists, by ascending Index, and adds the counts of a bucket
// that both have.
func merged(a, b []Bucket) []Bucket {
	all := make([]Bucket, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Index < b[0].Index:
			all, a = append(all, a[0]), a[1:]
		case a[0].Index > b[0].Index:
			all, b = append(all, b[0]), b[1:]
		default:
			all = append(all, Bucket{Index: a[0].Index, Count: a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// latest sorts exemplars, and keeps only the latest exemplar of each octave.
func latest(exemplars []Exemplar) []Exemplar {
	octave := func(e Exemplar) int { return Index(e.Value) >> Schema }
	slices.SortFunc(exemplars, func(a, b Exemplar) int {
		return cmp.Or(cmp.Compare(octave(a), octave(b)), b.At.Compare(a.At))
	})
	return slices.CompactFunc(exemplars, func(a, b Exemplar) bool { return octave(a) == octave(b) })
}

// Schema is the Prometheus schema of the buckets: the bounds of each bucket are 2^(2^-Schema) times
// the bounds of the bucket before it.
const Schema = 3

// perOctave is the number of buckets from a duration to its double.
const perOctave = 1 << Schema

// mantissas are the bounds of the eight buckets from 2^30 nanoseconds on, 10^9 * 2^(i/8) for i from
// 1 to 8, as 64 leading bits. Bounds an octave up or down differ in the exponent only.
var mantissas = [perOctave]uint64{
	0x81ffa7a9549ca6e3, 0x8dc3b8960164a7d9, 0x9a9867054d512391, 0xa8965f74bf065071,
	0xb7d88a12d0dd9ea0, 0xc87c3e7d03cdbec3, 0xdaa17c2cd19555db, 0xee6b280000000000,
}

// below counts the mantissas below each of the 128 values that eight leading bits can have. Two
// mantissas are further apart than two of these values, so at most one more is below a duration.
var below = func() (n [128]uint8) {
	for leading := range n {
		for _, m := range mantissas {
			if m < uint64(128+leading)<<56 {
				n[leading]++
			}
		}
	}
	return n
}()

// Index returns the index of the bucket that counts d. It does not allocate.
func Index(d time.Duration) int {
	v := uint64(max(d, 1))
	shift := bits.LeadingZeros64(v)
	v <<= shift
	n := int(below[v>>56&127])
	if n < perOctave && v > mantissas[n] {
		n++
	}
	const longest = 33 * perOctave // octaves of 1<<30 nanoseconds up to 1<<63
	return longest + 1 - perOctave*shift + n
}

// bound is the upper bound of a bucket in seconds.
func bound(index int) float64 { return math.Exp2(float64(index) / perOctave) }
