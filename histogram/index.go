package histogram

import (
	"math"
	"math/bits"
	"time"
)

// Schema is the Prometheus schema of the buckets: each is 2^(2^-Schema) times as long as the
// one before.
const Schema = 3

// perOctave is how many buckets double a duration.
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
