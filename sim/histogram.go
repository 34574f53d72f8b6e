package sim

import (
	"math/bits"
	"time"
)

// A Histogram is a distribution of latencies, exact to 1%: an octave of nanoseconds is
// cut into 128 cells. The zero Histogram is empty.
type Histogram struct {
	cells []uint32
	count uint64
	sum   time.Duration
}

const (
	cellBits = 7
	perOct   = 1 << cellBits
	octaves  = 47 - cellBits // up to 39 hours

	histogramCells = (octaves + 1) * perOct
)

func (h *Histogram) add(d time.Duration) {
	if h.cells == nil {
		h.cells = make([]uint32, histogramCells)
	}
	h.cells[cellOf(d)]++
	h.count++
	h.sum += d
}

func cellOf(d time.Duration) int {
	v := uint64(min(max(d, 0), 1<<46))
	if v < perOct {
		return int(v)
	}
	octave := bits.Len64(v) - 1 - cellBits
	return octave<<cellBits + int(v>>octave)
}

// cellFrom returns the lowest latency of a cell.
func cellFrom(cell int) time.Duration {
	octave := max(0, cell>>cellBits-1)
	return time.Duration(cell-octave<<cellBits) << octave
}

// merge adds the counts of another histogram.
func (h *Histogram) merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	if h.cells == nil {
		h.cells = make([]uint32, len(o.cells))
	}
	for i, n := range o.cells {
		h.cells[i] += n
	}
	h.count += o.count
	h.sum += o.sum
}

func (h *Histogram) clear() {
	clear(h.cells)
	h.count, h.sum = 0, 0
}

// Count returns the number of latencies.
func (h *Histogram) Count() uint64 { return h.count }

// Mean returns the exact mean of the latencies, 0 if the histogram is empty.
func (h *Histogram) Mean() time.Duration { return h.sum / time.Duration(max(1, h.count)) }

// Quantile returns the q-quantile of the latencies (q from 0 to 1), 0 without latencies.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := mul(min(max(q, 0), 1), float64(h.count))
	below := 0.0
	for i, n := range h.cells {
		if n == 0 {
			continue
		}
		if below+float64(n) >= rank {
			from, to := cellFrom(i), cellFrom(i+1)
			return from + time.Duration(mul((rank-below)/float64(n), float64(to-from)))
		}
		below += float64(n)
	}
	return 0
}
