package throttle

import (
	"cmp"
	"math"
	"time"
)

// Concurrency bounds how much cost runs at once, so that the load is held at a setpoint. It suits
// work that waits for other work within the database, for locks, connections or threads: there a
// pace either idles the lock or leaves the queue, while as many operations as keep it in use are as
// fast as can be.
//
// It goes by the readings of samples that name [load.ByConcurrency], and the other laws of the side
// and its [Emergency] by the rest. As the only law of a side it goes by all, and by the latency
// target. The heaviest operation that waits is always let in, alone if need be.
type Concurrency struct {
	// Setpoint is the load to hold, more than 0. Defaults to 0.85.
	Setpoint float64

	// Gain is by how much the logarithm of the bound falls in a second, for each 1 that the load is
	// above the setpoint. Defaults to 1.
	Gain float64
}

const (
	// defaultConcurrencyGain: twice as much swung between 7 and 17 at once where 12 are right, half
	// as much took twice as long to get there (TestConcurrencyOnALockQueue).
	defaultConcurrencyGain = 1
	// steepest is how far one decision goes at most, as a logarithm: signals that lag would take
	// the bound to 1 before they tell of the first cut.
	steepest = 0.5
	// freeAt is at how many times of what ran without a bound there is none again.
	freeAt = 2
)

func (c Concurrency) start(field string) (controller, error) {
	c.Setpoint = cmp.Or(c.Setpoint, writePID.Setpoint)
	c.Gain = cmp.Or(c.Gain, defaultConcurrencyGain)
	switch {
	case !(c.Setpoint > 0) || math.IsInf(c.Setpoint, 1):
		return nil, invalid(field+".Setpoint", c.Setpoint, "0 (the default) or more")
	case !(c.Gain > 0) || math.IsInf(c.Gain, 1):
		return nil, invalid(field+".Gain", c.Gain, "0 (the default) or more")
	}
	return &concurrencyLaw{Concurrency: c}, nil
}

// concurrencyLaw is a Concurrency at work.
type concurrencyLaw struct {
	Concurrency
	bound float64 // 0 is none
	free  float64 // what ran without one
}

func (l *concurrencyLaw) next(s signals) demand {
	room := l.Setpoint - s.waits
	if l.bound == 0 {
		if room >= 0 || s.running == 0 {
			return demand{}
		}
		l.bound, l.free = s.running, s.running
	}
	switch held := s.queued > 0 || s.running >= math.Floor(l.bound); {
	case room < 0 && s.running > math.Ceil(l.bound):
		// What started before the last cut has not ended: the load is not yet that of the bound.
	case room > 0 && !held:
		l.bound *= easing(s.dt) // it holds nothing back, and what it knows grows old
	default:
		l.bound *= math.Exp(min(max(l.Gain*room*s.dt.Seconds(), -steepest), steepest))
	}
	l.bound = max(l.bound, 1)
	if l.bound >= freeAt*l.free {
		l.bound = 0
		return demand{}
	}
	return demand{slots: int(math.Round(max(l.bound, s.heaviest)))}
}

// resume goes on from a bound that holds.
func (l *concurrencyLaw) resume(from demand, _ float64) { l.bound = float64(from.slots) }

// easesIn is how long it takes what is known of the past to ease to the double.
const easesIn = time.Minute

func easing(dt time.Duration) float64 { return math.Exp2(dt.Seconds() / easesIn.Seconds()) }
