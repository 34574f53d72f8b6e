package dash

import (
	"time"

	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/recording"
)

// A heat map has a column each five seconds, if the limiter has histograms.
const (
	heatEvery   = 5 * time.Second
	mostColumns = int(time.Hour / heatEvery)
)

type heat struct {
	columns []recording.Column
	begin   *histogram.Snapshot // of the next column
	begun   time.Time
}

// add takes a histogram that counts since the limiter was made. It reports whether it has added a
// column.
func (h *heat) add(now time.Time, counts *histogram.Snapshot) bool {
	switch {
	case counts == nil || h.begin == nil || counts.Count < h.begin.Count:
		h.begin, h.begun = counts, now
		return false
	case now.Sub(h.begun) < heatEvery:
		return false
	}
	c := recording.Column{At: now.UnixMilli(), Cells: cells(h.begin, counts)}
	h.columns = newest(append(h.columns, c), mostColumns)
	h.begin, h.begun = counts, now
	return true
}

// cells returns the counts of the time between two histograms.
func cells(from, to *histogram.Snapshot) (all []recording.Cell) {
	before := map[int]uint64{}
	for _, b := range from.Buckets {
		before[b.Index] = b.Count
	}
	for _, b := range to.Buckets {
		n := b.Count - min(b.Count, before[b.Index])
		if n == 0 {
			continue
		}
		index := int16((b.Index + 3) >> 2) // four buckets are a cell
		if last := len(all) - 1; last < 0 || all[last].Index != index {
			all = append(all, recording.Cell{Index: index})
		}
		all[len(all)-1].Count += uint32(n)
	}
	return all
}
