package window

import (
	"math/bits"
	"slices"
	"time"

	"github.com/weir-go/weir/histogram"
)

// perRow is the number of buckets of a row, in which a duration doubles.
const perRow = 1 << histogram.Schema

// lowestRow is the row of the shortest duration, one nanosecond. There are 64 rows.
const lowestRow = -30

// Counts is a cumulative histogram of durations, in the buckets of package histogram. Rows
// take 64 bytes each, and are allocated when a duration first falls into them. The zero
// Counts is empty.
type Counts struct {
	rows      [][perRow]uint64 // in ascending order
	hit       uint64           // which rows exist; bit 0 is lowestRow
	low, high uint64           // sum in nanoseconds
}

func (c *Counts) add(d time.Duration) {
	index := histogram.Index(d)
	bit := uint64(1) << ((index>>histogram.Schema - lowestRow) & 63)
	at := bits.OnesCount64(c.hit & (bit - 1))
	if c.hit&bit == 0 {
		c.grow(at, bit)
	}
	c.rows[at][index&(perRow-1)]++
	var carry uint64
	c.low, carry = bits.Add64(c.low, uint64(max(d, 0)), 0)
	c.high += carry
}

// grow inserts a row. It stays out of add because it is rarely called.
//
//go:noinline
func (c *Counts) grow(at int, bit uint64) {
	c.rows = slices.Concat(c.rows[:at], make([][perRow]uint64, 1), c.rows[at:])
	c.hit |= bit
}

// copyFrom makes c equal to o. It reuses c's memory if the memory is large enough.
func (c *Counts) copyFrom(o *Counts) {
	c.rows = append(c.rows[:0], o.rows...)
	c.hit, c.low, c.high = o.hit, o.low, o.high
}

// Snapshot returns the public form of the histogram.
func (c *Counts) Snapshot() *histogram.Snapshot {
	const unit = 1 << 32 // its square is the worth of one in high
	s := &histogram.Snapshot{Sum: (float64(float64(c.high)*unit*unit) + float64(c.low)) / float64(time.Second)}
	n := 0
	for _, row := range c.rows {
		for _, count := range row {
			n += min(int(count), 1)
		}
	}
	s.Buckets = make([]histogram.Bucket, 0, n)
	hit := c.hit
	for _, row := range c.rows {
		first := (bits.TrailingZeros64(hit) + lowestRow) * perRow
		hit &= hit - 1
		for i, count := range row {
			if count > 0 {
				s.Count += count
				s.Buckets = append(s.Buckets, histogram.Bucket{Index: first + i, Count: count})
			}
		}
	}
	return s
}
