package simulate

import (
	"math"
	"slices"

	"github.com/weir-go/weir/sim"
)

// enough is the number of possible answers from which one seed of a phase is significant. A phase
// with fewer possible answers is pooled over its seeds.
const enough = 200

// kept is the share, in percent of the possible answers, from which a law counts as harmless.
const kept = 97

// harms compares one law with the baseline in each phase of one scenario.
type harms []harm

// harm has the figures of one phase: the smallest share of a seed, and the sums of the pooled
// seeds.
type harm struct {
	least float64 // infinite if all seeds are pooled
	good  int
	of    sim.BaselinePhase
}

func (h *harms) add(c *sim.Comparison) {
	if c == nil {
		return
	}
	for i, of := range c.Possible {
		if i == len(*h) {
			*h = append(*h, harm{least: math.Inf(1)})
		}
		phase := &(*h)[i]
		if of.Possible() >= enough {
			phase.least = min(phase.least, share(c.Good[i], of))
			continue
		}
		phase.good += c.Good[i]
		phase.of.Unlimited += of.Unlimited
		phase.of.Twenty += of.Twenty
	}
}

// share returns the good answers as a percentage of the possible answers, at most 100.
func share(good int, of sim.BaselinePhase) float64 {
	if good >= of.Possible() {
		return 100
	}
	return 100 * float64(good) / float64(of.Possible())
}

// least is the smallest share of a phase, NaN without a baseline.
func (h harms) least() float64 {
	least := math.Inf(1)
	for _, phase := range h {
		least = min(least, phase.least, share(phase.good, phase.of))
	}
	if math.IsInf(least, 1) {
		return math.NaN()
	}
	return least
}

// Share is the smallest share of a phase after the start, in percent of the good answers with no
// limit or a fixed limit of 20, whichever is better. It is NaN without a baseline.
func (c *Cell) Share() float64 { return c.harms[min(c.Mean.Starts, len(c.harms)):].least() }

// StartShare is [Cell.Share] for the phases of the start.
func (c *Cell) StartShare() float64 { return c.harms[:min(c.Mean.Starts, len(c.harms))].least() }

// harmless returns the part of the shares with which a law counts as harmless, NaN without shares.
func harmless(shares []float64) Figure {
	harmed := slices.DeleteFunc(slices.Clone(shares), func(share float64) bool { return share >= kept })
	return Figure(1 - float64(len(harmed))/float64(len(shares)))
}
