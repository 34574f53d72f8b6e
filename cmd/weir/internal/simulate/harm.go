package simulate

import (
	"math"
	"slices"

	"github.com/weir-go/weir/sim"
)

// enough is the number of possible answers from which one seed of a phase is significant. A
// phase with fewer is pooled over seeds.
const enough = 200

// kept is the share, in percent of the possible answers, from which a law counts as harmless.
const kept = 97

// harms compares one law with the baseline in each phase of one scenario.
type harms []harm

// harm is one phase: the smallest share of a seed, and the pooled seeds.
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

// share is the percentage of the possible answers, at most 100.
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

// Share is the smallest share of a phase after the start, in percent of the good answers with
// no limit or a fixed 20, whichever is better. It is NaN without a baseline.
func (c *Cell) Share() float64 { return c.harms[min(c.Mean.Starts, len(c.harms)):].least() }

// StartShare is Share for the start.
func (c *Cell) StartShare() float64 { return c.harms[:min(c.Mean.Starts, len(c.harms))].least() }

// harm computes the figures that only some suites have.
func (s *Summary) harm(cells []*Cell) {
	shares := known(cells, (*Cell).Share)
	s.HarmFirst, s.HarmWorst = figure(shares, func(v []float64) float64 { return quantile(v, 0.01) }), figure(shares, slices.Min)
	s.Harmless = figure(shares, func(v []float64) float64 {
		harmed := slices.DeleteFunc(slices.Clone(v), func(share float64) bool { return share >= kept })
		return 1 - float64(len(harmed))/float64(len(v))
	})
	mean := func(v []float64) float64 { mean, _ := meanWithin(v); return mean }
	s.StartGoodput = figure(known(cells, func(c *Cell) float64 { return ifAny(c.Mean.Starts > 0, c.Mean.StartGoodput) }), mean)
	s.StartWorst = figure(known(cells, (*Cell).StartShare), slices.Min)
	jain := known(cells, func(c *Cell) float64 { return ifAny(c.Mean.Jain > 0, c.Mean.Jain) })
	s.Jain, s.JainWorst = figure(jain, mean), figure(jain, slices.Min)
}

// ifAny returns an optional value, NaN if it is missing.
func ifAny(there bool, value float64) float64 {
	if !there {
		return math.NaN()
	}
	return value
}

// known returns a column without NaN.
func known(cells []*Cell, of func(*Cell) float64) []float64 {
	return slices.DeleteFunc(column(cells, of), math.IsNaN)
}

// figure is NaN if there are no values.
func figure(values []float64, of func([]float64) float64) Figure {
	if len(values) == 0 {
		return Figure(math.NaN())
	}
	return Figure(of(values))
}
