package knee

import "math"

// A grid holds the knees of the hypotheses: ln K from first on in steps of a tenth,
// which is finer than the knee of a live system is steady. It is a factor of 4900 wide
// and moves by an even number of steps, so that a knee of any size costs no more than a small one.
type grid int16 // steps from leastKnee to the first

const (
	knees     = 86
	kneeStep  = 0.1
	leastKnee = -0.4 // of ln K: less than one slot

	// The grid moves when work in flight or the knee comes so near to an end of it.
	gridMargin = 8
	gridMove   = 20
)

func (g grid) first() float64 { return leastKnee + float64(kneeStep*float64(g)) }

// lnKnee is the ln K of a hypothesis, and the ln N of a point on the same grid.
func (g grid) lnKnee(k int) float64 { return leastKnee + float64(kneeStep*float64(k+int(g))) }

// Center moves the grid if ln N or the knee is near its end, and reports whether it did.
func (f *Filter) Center(n, knee float64) bool {
	high := f.grid.lnKnee(knees - gridMargin)
	low := f.grid.lnKnee(gridMargin)
	switch {
	case n > high || knee > high:
		for range gridMove / 2 {
			f.climb()
		}
		return true
	case f.grid > 0 && n < low && knee < low:
		for range min(gridMove, int(f.grid)) / 2 {
			f.descend()
		}
		return true
	}
	return false
}

// climb replaces the two lowest knees by two above the highest. So far above all work in flight
// the curves are lines: the next knee is as likely as the last, and its capacity grows with it.
func (f *Filter) climb() {
	for s := range shapes {
		score, capacity := &f.score[s], &f.capacity[s]
		copy(score[:], score[2:])
		copy(capacity[:], capacity[1:])
		score[knees-2] = score[knees-1]
		f.setCapacity(s, nodes-1, f.lnCapacity(s, 2*nodes-2)+2*kneeStep)
	}
	f.grid += 2
}

// descend replaces the two highest knees by two below the lowest, which may have become true.
func (f *Filter) descend() {
	for s := range shapes {
		score, capacity := &f.score[s], &f.capacity[s]
		copy(score[2:], score[:])
		copy(capacity[1:], capacity[:])
		score[0], score[1] = math.MaxUint8, math.MaxUint8
	}
	f.grid -= 2
}
