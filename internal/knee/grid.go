package knee

// A grid holds the knees of the hypotheses: ln K from first on in steps of a tenth,
// which is finer than the knee of a live system is steady. It is a factor of 4900 wide
// and moves by whole steps, so that a knee of any size costs no more than a small one.
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
		for range gridMove {
			f.climb()
		}
		return true
	case f.grid > 0 && n < low && knee < low:
		for range min(gridMove, int(f.grid)) {
			f.descend()
		}
		return true
	}
	return false
}

// climb replaces the lowest knee by one above the highest. So far above all work in flight
// the curves are lines: the next knee is as likely as the last, and its capacity grows with it.
func (f *Filter) climb() {
	for s := range shapes {
		score, capacity := &f.score[s], &f.capacity[s]
		copy(score[:], score[1:])
		copy(capacity[:], capacity[1:])
		capacity[knees-1] += kneeStep
	}
	f.grid++
}

// descend replaces the highest knee by one below the lowest, which may have become true.
func (f *Filter) descend() {
	for s := range shapes {
		score, capacity := &f.score[s], &f.capacity[s]
		copy(score[1:], score[:])
		copy(capacity[1:], capacity[:])
		score[0] = leastScore
	}
	f.grid--
}
