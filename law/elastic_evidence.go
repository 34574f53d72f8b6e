package law

import (
	"github.com/weir-go/weir/internal/portable"
)

// evidence is what a limiter heard of others on its server, as the log of the odds that there
// are some. A limiter that keeps its limit at a tick listens: if the latency then dips,
// others have lowered theirs. One that is convinced to be alone takes no part in ebbs, which
// would cost it throughput for nothing.
type evidence struct{ odds float64 }

const (
	convinced  = 3.0  // log odds beyond which there are others, or, below zero, none
	mostOdds   = 5.0  // so that it can change its mind
	mostHeard  = 1.5  // at one tick
	heardDip   = 0.2  // of ln latency, when others lower their limits
	listenVar  = 0.02 // variance of ln latency that no number of samples takes away
	suspicious = 0.5  // odds that there are others, when the latency is far above the base
)

func (e *evidence) shared() bool { return e.odds > convinced }
func (e *evidence) alone() bool  { return e.odds < -convinced }

// hear compares the latency after a tick with that before it, both taken to be normal in their
// logarithm around no dip, or around one of heardDip.
func (e *evidence) hear(after, before point, variation float64) {
	variance := listenVar + float64((0.1+variation)*(1/after.done+1/before.done))
	dip := portable.Log(before.latency / after.latency)
	e.add(min(max(heardDip*(dip-heardDip/2)/variance, -mostHeard), mostHeard))
}

func (e *evidence) add(odds float64) {
	e.odds = min(max(e.odds+odds, -mostOdds), mostOdds)
}
