package sim

import (
	"encoding/json"
	"fmt"
	"time"
)

// encodedOracle is an [Oracle] on disk. A histogram has thousands of cells, of which only hundreds
// are not zero. A zero cell takes two bytes.
type encodedOracle struct {
	plainOracle // for its exported fields

	Cells []uint32
	Count uint64
	Sum   time.Duration
	Bins  []uint32      // the good, refused and lost attempts of each bin
	Width time.Duration // of a bin
}

type plainOracle Oracle

// MarshalJSON encodes an oracle for storage, because finding an oracle takes forty times as long as
// trying a law.
func (o *Oracle) MarshalJSON() ([]byte, error) {
	h := &o.latency
	e := encodedOracle{plainOracle: plainOracle(*o), Cells: h.cells, Count: h.count, Sum: h.sum, Width: o.width}
	for _, b := range o.bins {
		e.Bins = append(e.Bins, b.good, b.refused, b.lost)
	}
	return json.Marshal(e)
}

// UnmarshalJSON decodes the output of [Oracle.MarshalJSON].
func (o *Oracle) UnmarshalJSON(data []byte) error {
	var e encodedOracle
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("sim: an oracle: %w", err)
	}
	if n := len(e.Cells); n != 0 && n != histogramCells || len(e.Bins)%3 != 0 || e.Width <= 0 || len(e.Phases) == 0 {
		return fmt.Errorf("sim: an oracle has %d phases, %d cells and %d counts: want one written by MarshalJSON",
			len(e.Phases), n, len(e.Bins))
	}
	*o = Oracle(e.plainOracle)
	o.latency, o.width = Histogram{e.Cells, e.Count, e.Sum}, e.Width
	for i := 0; i < len(e.Bins); i += 3 {
		o.bins = append(o.bins, bin{e.Bins[i], e.Bins[i+1], e.Bins[i+2]})
	}
	return nil
}
