package law

import "math"

// A watch notices that the curve has changed, by how far observations are from what
// the filter predicted, in standard deviations.
type watch struct {
	up, down, probe float64 // sums of deviations beyond the expected
	held            observation
	heldSign        float64 // the way of the observation that is held out, or 0
}

// The sums are Page's (CUSUM): they drop what a deviation has below drift and signal beyond a
// threshold.
const (
	clipped     = 6    // a deviation counts as no more
	outlier     = 3    // a deviation beyond is a pause, or the first of a change
	drift       = 0.75 // half of the least shift that matters
	changed     = 6
	probeDrift  = 0.5 // a probe looks for more throughput only
	probeFound  = 3
	probeAgain  = 0.5 // a probe that promises something is repeated
	noChange    = 0.0
	moreWork    = 1.0
	lessWork    = -1.0
	priorSpread = 0.04 // variance that is added to what was known of a knee
)

// learn brings the filter up to date. It returns in which direction the curve changed
// and whether a probe should go on.
func (k *seeker) learn(z observation, f flow) (change float64, again bool) {
	filter, w := &k.filter, &k.watch
	if filter.weight == 0 {
		filter.absorb(z, forget)
		return noChange, false
	}
	var b belief
	filter.believe(&b)
	x := filter.predict(&b, z.n)
	e := min(max((z.x-x.mean)/math.Sqrt(x.variance+1/z.weight), -clipped), clipped)
	w.up = max(0, w.up+e-drift)
	w.down = max(0, w.down-e-drift)
	if k.probing && f.saturated {
		w.probe = max(0, w.probe+e-probeDrift)
		again = w.probe > probeAgain
	}
	sign := math.Copysign(1, e)
	switch {
	case math.Abs(e) > outlier && w.heldSign != sign:
		w.held, w.heldSign, w.probe = z, sign, 0
		return noChange, false
	case math.Abs(e) > outlier:
		change = sign
		defer filter.absorb(w.held, 1)
	case w.down > changed:
		change = lessWork
	case w.up > changed || w.probe > probeFound:
		change = moreWork
	}
	if change != noChange {
		filter.change(&b, z, f.saturated, change)
		filter.absorb(z, 1)
		*w = watch{}
		return change, again
	}
	w.heldSign = 0
	if !again {
		w.probe = 0
	}
	if !f.flooding {
		filter.absorb(z, forget)
	}
	return noChange, again
}

// change replaces the posterior by a prior for what follows a change, of which z is the
// first observation. With K, C and the latency R = K/C as they were, its knee is
// near K if the speed changed, near X R if workers came or went, and near
// C N/X if a delay was added.
func (f *kneeFilter) change(b *belief, z observation, saturated bool, sign float64) {
	for s := range shapes {
		var knee, capacity moments
		for k, p := range b.p[s] {
			knee.add(float64(p), f.grid.lnKnee(k))
			capacity.add(float64(p), float64(f.capacity[s][k]))
		}
		was, c := knee.normal(), capacity.sum/capacity.weight
		sd := math.Sqrt(was.variance + priorSpread)
		near := func(x, mean float64) float64 {
			d := (x - mean) / sd
			return exp(-d*d/2) / sd
		}
		fewer := z.x + was.mean - c
		share := float64(0.7*knee.weight) + 0.1
		for k := range knees {
			x := f.grid.lnKnee(k)
			q := 0.05 + float64(0.35*near(x, was.mean)) + float64(0.25*near(x, c+z.n-z.x))
			if saturated && sign < 0 {
				q += float64(0.3 * near(x, fewer))
			}
			if saturated && sign > 0 && x > fewer && x < fewer+2 {
				q += 0.3
			}
			f.score[s][k] = float32(ln(q * share))
			f.capacity[s][k] = 0
		}
	}
	f.weight = 0
	f.level()
}
