package sim

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"time"
)

// keptOracle is an [Oracle] on disk. A histogram is thousands of cells of which hundreds
// are not zero; gob writes a small number in a byte.
type keptOracle struct {
	Scenario string
	Regime   string
	Seed     uint64
	Phases   []OraclePhase
	Cells    []uint32
	Count    uint64
	Sum      time.Duration
	Bins     []uint32      // good, refused, lost, and so on
	Width    time.Duration // of a bin
}

// MarshalBinary lets an oracle be kept: to find one takes forty times as long as to try a law.
func (o *Oracle) MarshalBinary() ([]byte, error) {
	k := keptOracle{o.Scenario, o.Regime, o.Seed, o.Phases, o.latency.cells, o.latency.count, o.latency.sum, nil, o.width}
	for _, b := range o.bins {
		k.Bins = append(k.Bins, b.good, b.refused, b.lost)
	}
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(k)
	return text.Bytes(), err
}

// UnmarshalBinary reads what [Oracle.MarshalBinary] wrote.
func (o *Oracle) UnmarshalBinary(data []byte) error {
	var k keptOracle
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&k); err != nil {
		return fmt.Errorf("sim: an oracle: %w", err)
	}
	if n := len(k.Cells); n != 0 && n != histogramCells || len(k.Bins)%3 != 0 || k.Width <= 0 || len(k.Phases) == 0 {
		return fmt.Errorf("sim: an oracle has %d phases, %d cells and %d counts: want one written by MarshalBinary", len(k.Phases), n, len(k.Bins))
	}
	*o = Oracle{Scenario: k.Scenario, Regime: k.Regime, Seed: k.Seed, Phases: k.Phases, latency: Histogram{k.Cells, k.Count, k.Sum}, width: k.Width}
	for i := 0; i < len(k.Bins); i += 3 {
		o.bins = append(o.bins, bin{k.Bins[i], k.Bins[i+1], k.Bins[i+2]})
	}
	return nil
}
