package window

import (
	"math/bits"
	"slices"
	"time"
)

const (
	shortest = int64(time.Microsecond) // latencies outside are counted at these bounds
	longest  = int64(time.Hour)

	lowestOctave = 9 // shortest lies in [2^9, 2^10) nanoseconds
	cells        = 9 // cells of an octave
)

// bounds are the starts of the cells of an octave, in 128ths of its own start: the whole
// numbers closest to 128 * 2^(i/9), so that the cells are about equally wide in proportion.
var bounds = [cells + 1]int{128, 138, 149, 161, 174, 188, 203, 219, 237, 256}

// cellOf has the cell of a latency by the eight leading bits of the latency.
var cellOf = func() (cell [256]uint8) {
	for i := range cells {
		for leading := bounds[i]; leading < bounds[i+1]; leading++ {
			cell[leading] = uint8(i)
		}
	}
	return cell
}()

// A row counts one octave: the cells of the two generations, side by side.
type row [2][cells]uint8

// A carry counts how often the cells of one octave wrapped around at 256. Only busy octaves have a
// carry.
type carry struct {
	next   *carry
	octave int
	wraps  [2][cells]uint32
}

// A sketch counts latencies of two generations, called sides here. It does not know which side is
// the current generation.
type sketch struct {
	rows    []row  // one for each octave hit, in ascending order
	octaves uint64 // which octaves have a row; bit 0 is lowestOctave
	carries *carry
}

func (h *sketch) add(side uint8, latency int64) {
	v := uint64(min(max(latency, shortest), longest))
	octave := bits.Len64(v) - 1
	bit := uint64(1) << (octave - lowestOctave)
	at := bits.OnesCount64(h.octaves & (bit - 1))
	if h.octaves&bit == 0 {
		h.grow(at, bit)
	}
	i := cellOf[uint8(v>>(octave-7))]
	cell := &h.rows[at][side&1][i]
	*cell++
	if *cell == 0 {
		h.wrapped(octave, side&1, i)
	}
}

// wrapped counts that a cell wrapped around. It stays out of add because it is rarely called.
//
//go:noinline
func (h *sketch) wrapped(octave int, side, i uint8) {
	h.carry(octave).wraps[side&1][i]++
}

// grow inserts a row. It stays out of add because it is rarely called. It makes room for exactly
// one row more: spare rows would waste memory, and copies are rare because there are at most 33
// rows.
//
//go:noinline
func (h *sketch) grow(at int, bit uint64) {
	h.rows = slices.Concat(h.rows[:at], make([]row, 1), h.rows[at:])
	h.octaves |= bit
}

// find returns the carry of an octave, or nil if none of its cells ever wrapped.
func (h *sketch) find(octave int) *carry {
	for c := h.carries; c != nil; c = c.next {
		if c.octave == octave {
			return c
		}
	}
	return nil
}

// carry returns the carry of an octave, allocated on first use.
func (h *sketch) carry(octave int) *carry {
	if c := h.find(octave); c != nil {
		return c
	}
	h.carries = &carry{next: h.carries, octave: octave}
	return h.carries
}

// clear empties one side. The rows stay: they are likely to be hit again.
func (h *sketch) clear(side uint8) {
	for i := range h.rows {
		h.rows[i][side&1] = [cells]uint8{}
	}
	for c := h.carries; c != nil; c = c.next {
		c.wraps[side&1] = [cells]uint32{}
	}
}

// fold moves all counts of one side to the other.
func (h *sketch) fold(from uint8) {
	from &= 1
	to := 1 - from
	at := 0
	for o := h.octaves; o != 0; o &= o - 1 {
		octave := bits.TrailingZeros64(o) + lowestOctave
		r := &h.rows[at]
		for i, n := range r[from] {
			r[to][i] += n
			if r[to][i] < n {
				h.wrapped(octave, to, uint8(i))
			}
		}
		at++
	}
	for c := h.carries; c != nil; c = c.next {
		for i, n := range c.wraps[from] {
			c.wraps[to][i] += n
		}
	}
	h.clear(from)
}

// sides selects the generations to read.
type sides [2]bool

// ranked returns the latency of the given rank, counted from 1, to within 4%. If there are fewer
// latencies, it returns the highest latency, and 0 if there are none.
func (h *sketch) ranked(s sides, rank uint64) time.Duration {
	at, found := 0, time.Duration(0)
	for o := h.octaves; o != 0; o &= o - 1 {
		octave := bits.TrailingZeros64(o) + lowestOctave
		c := h.find(octave)
		for i := range cells {
			n := count(s, &h.rows[at], c, i)
			if n == 0 {
				continue
			}
			found = middle(octave, i)
			if rank <= n {
				return found
			}
			rank -= n
		}
		at++
	}
	return found
}

// count returns the count of the sides in one cell.
func count(s sides, r *row, c *carry, i int) uint64 {
	n := uint64(0)
	for side, seen := range s {
		if !seen {
			continue
		}
		n += uint64(r[side][i])
		if c != nil {
			n += uint64(c.wraps[side][i]) << 8
		}
	}
	return n
}

// middle is the harmonic mean of a cell's bounds, 2*lo*hi/(lo+hi). Both bounds have the same
// relative distance from this mean.
func middle(octave, i int) time.Duration {
	lo, hi := float64(bounds[i]), float64(bounds[i+1])
	twice := float64(uint64(1)<<octave) / 64 // the unit of bounds
	return time.Duration(twice*lo*hi/(lo+hi) + 0.5)
}
