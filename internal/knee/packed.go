package knee

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
)

// A filter keeps its numbers in few bits, because a service may hold a hundred thousand filters.
// What they lose is rounded up or down by a dice (stochastic rounding), so that many small steps
// add up as they would in a float. They are relative to the first observation: the unit of time
// moves ln C, and would move what is rounded away.
const (
	scoreStep    = -leastScore / 255.0 // of a score, which is from leastScore to 0
	capacityStep = 1.0 / 1024          // of ln C, which is within 32 of the first ln X

	// The mean of ln C is smooth in K: at every other knee it is kept, and between them it is the
	// mean of the two.
	nodes = knees/2 + 1
)

// likelihood is e to the score, by the steps that a score is below 0.
var likelihood = func() (t [256]float64) {
	for i := range t {
		t[i] = portable.Exp(-scoreStep * float64(i))
	}
	return t
}()

// scores are logs of probabilities while they are computed.
type scores [shapes][knees]float32

// lnScore is the log of the probability of a hypothesis, against that of the likeliest.
func (f *Filter) lnScore(s, k int) float32 { return float32(-scoreStep * float32(f.score[s][k])) }

// lnCapacity is the mean of ln C of a hypothesis, or at the node above the last, relative to
// f.origin.
func (f *Filter) lnCapacity(s, k int) float32 {
	below, above := f.capacity[s][k/2], f.capacity[s][(k+1)/2]
	return float32(capacityStep / 2 * (float32(below) + float32(above)))
}

// setScores takes over scores and makes that of the likeliest 0.
func (f *Filter) setScores(to *scores) {
	most := to[0][0]
	for s := range shapes {
		for _, v := range to[s] {
			most = max(most, v)
		}
	}
	for s := range shapes {
		for k, v := range to[s] {
			f.score[s][k] = uint8(f.rounded(min((most-v)/scoreStep, math.MaxUint8)))
		}
	}
}

// setCapacity takes over ln C at a node.
func (f *Filter) setCapacity(s, node int, to float32) {
	steps := min(max(to/capacityStep, math.MinInt16), math.MaxInt16)
	f.capacity[s][node] = int16(f.rounded(steps))
}

// rounded is x or what lies next to it, so that the mean is x. Whole numbers stay what they are.
func (f *Filter) rounded(x float32) float32 {
	f.dice = f.dice*1664525 + 1013904223 // Numerical Recipes, 7.1
	down := float32(math.Floor(float64(x)))
	if float32(f.dice>>8) < (x-down)*(1<<24) {
		return down + 1
	}
	return down
}
