package law

import "math"

// evidence is what a limiter heard of others on its server: the log of the odds that there
// are some. Before an ebb, a limiter drawn by chance lowers its limit ahead of the others.
// So each hears the others without its own move in between: those that wait hear
// the early ones, and the early ones those that waited.
type evidence struct{ odds float64 }

const (
	convinced  = 3.0 // log odds beyond which there are others, or, below zero, none
	mostOdds   = 5.0
	mostHeard  = 1.5  // of one tick
	heardDip   = 0.2  // of ln latency, that others make
	leastHush  = 0.02 // variance of ln latency that no number of samples takes away
	suspicious = 0.5  // log odds for others when the latency is far above the base
)

func (e *evidence) shared() bool { return e.odds > tConv }
func (e *evidence) alone() bool  { return e.odds < -tConv }

// hear compares two latencies: of work that others may have held back, and from before.
func (e *evidence) hear(now, before point, variation float64) {
	v := tHush + (0.1+variation)*(1/now.done+1/before.done)
	d := ln(now.latency / before.latency)
	e.add(min(max(-tDip*(d+tDip/2)/v, -mostHeard), mostHeard))
	if debugEbb {
		println("hear d", int(1000*d), "v", int(v*1000), "odds", int(1000*e.odds))
	}
}

func (e *evidence) add(odds float64) {
	e.odds = min(max(e.odds+odds, -mostOdds), mostOdds)
}

// coin draws from what only this limiter measured, so that each of several draws for itself.
func coin(tick int64, f flow, sides uint64) bool {
	return mixed(uint64(tick)^math.Float64bits(f.n)^mixed(math.Float64bits(f.x)))%sides == 0
}
