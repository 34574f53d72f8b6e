package knee

import "math"

// A Change is the direction in which a curve changed.
type Change int8

// The directions.
const (
	LessWork Change = iota - 1
	NoChange
	MoreWork
)

// A Tracker is a filter that notices when the curve has changed, by how far observations are from
// the prediction, in standard deviations. The zero value has seen nothing.
type Tracker struct {
	Filter
	heldSign        Change  // the way of the observation that is held out, or NoChange
	up, down, probe float32 // sums of deviations beyond the expected
	held            Observation
}

// The sums are Page's (CUSUM): they drop what a deviation has below drift and signal beyond a
// threshold.
const (
	clipped    = 6    // a deviation counts as no more
	outlier    = 3    // a deviation beyond is a pause, or the first of a change
	drift      = 0.75 // half of the least shift that matters
	changed    = 6
	probeDrift = 0.5 // a probe looks for more throughput only
	probeFound = 3
	probeAgain = 0.5 // a probe that promises something is repeated
)

// Circumstances are under what an observation was made.
type Circumstances struct {
	Saturated bool // the limit was reached
	Flooding  bool // so much work came that the window is no point on the curve
	Probing   bool // the limit was raised to look for more throughput
}

// Learn takes in an observation. It returns in which direction the curve changed, and whether a
// probe should go on.
func (t *Tracker) Learn(z Observation, under Circumstances) (change Change, again bool) {
	if t.weight == 0 {
		t.Absorb(z)
		return NoChange, false
	}
	var b Belief
	t.Believe(&b)
	e := t.deviation(&b, z)
	t.up = max(0, t.up+float32(e-drift))
	t.down = max(0, t.down-float32(e+drift))
	if under.Probing && under.Saturated {
		t.probe = max(0, t.probe+float32(e-probeDrift))
		again = t.probe > probeAgain
	}
	sign := MoreWork
	if e < 0 {
		sign = LessWork
	}
	held := t.held
	switch odd := math.Abs(e) > outlier; {
	case odd && t.heldSign != sign:
		t.held, t.heldSign, t.probe = z, sign, 0
		return NoChange, false
	case odd:
		change = sign
	case t.down > changed:
		change = LessWork
	case t.up > changed || t.probe > probeFound:
		change = MoreWork
	}
	if change != NoChange {
		t.change(&b, z, under.Saturated, change)
		*t = Tracker{Filter: t.Filter}
		t.absorb(z, 1)
		if math.Abs(e) > outlier {
			t.absorb(held, 1)
		}
		return change, again
	}
	t.heldSign = NoChange
	if !again {
		t.probe = 0
	}
	if !under.Flooding {
		t.Absorb(z)
	}
	return NoChange, again
}

// deviation is how far an observation is from the prediction, in standard deviations.
func (t *Tracker) deviation(b *Belief, z Observation) float64 {
	x := t.predict(b, z.N)
	return min(max((z.X-x.Mean)/math.Sqrt(x.Variance+1/z.Weight), -clipped), clipped)
}
