package law

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// A pulse is the unit of time of a server: the least latency that it was seen with. It fades,
// so that one that belongs to the past does not last.
type pulse struct {
	least float64 // seconds, 0 before anything was measured
}

const (
	// pulseFades is in how many units the least latency rises by a factor of e.
	pulseFades = 100
	// quickFades is in how many seconds it does so where work is quick.
	quickFades = 60.0
	// pulseReach bounds the unit by the least latency: in an overload, windows in units of the
	// latency itself would last as long as the queue that they are to find.
	pulseReach = 3
)

// observe takes in a window and returns the unit.
func (p *pulse) observe(f flow, variation float64) float64 {
	seen := f.upperLatency(variation)
	if p.least == 0 {
		p.least = seen
	}
	p.least = min(p.least*portable.FiniteExp(f.span/max(quickFades, pulseFades*p.least)), seen)
	return min(f.latency, pulseReach*p.least)
}

// A schedule has the ticks of the wall clock, which limiters that know nothing of each other
// have in common. They are at multiples of a power of two seconds that follows the
// latency, so that the ticks of limiters that measure differently still meet.
type schedule struct {
	period, next int64 // nanoseconds; next is of the wall clock
}

const (
	usualTick = 8 * time.Second // 2 s scores 93 / 66 on shared systems, 16 s 92
	hotTick   = 4 * time.Second

	// A tick lasts so many least latencies, or latencies without load if the latency is
	// far above it, and so many latencies: an ebb takes 2 to 8 of them.
	leastsInTick    = 24
	basesInTick     = 6
	latenciesInTick = 24

	tooLate = 250 * time.Millisecond // after a tick for a window to end with it
)

// due reports whether a tick is now, and finds the next one. The period is at least usual,
// and at least so many seconds.
func (s *schedule) due(now int64, usual time.Duration, seconds float64) bool {
	due := s.next
	s.period = int64(usual)
	for float64(s.period) < seconds*1e9 && s.period < int64(mostPatience) {
		s.period *= 2
	}
	if due <= now || due-now > s.period {
		s.next = (now/s.period + 1) * s.period
	}
	return due != 0 && due <= now && now-due <= max(int64(tooLate), s.period/32)
}

// align has the window that would straddle the next tick end with it.
func (s *schedule) align(p *Plan, now int64) {
	left := time.Duration(s.next - now)
	if left <= 0 || p.Settle+p.Interval+p.Interval/2 < left {
		return
	}
	p.Settle = min(p.Settle, left/2)
	p.Interval = left - p.Settle
	p.MinSamples, p.Carried = leastDone, true
}

// coin draws one of so many from what only this limiter measured, so that each of several
// limiters draws for itself.
func coin(tick int64, f flow, sides uint64) bool {
	return mixed(uint64(tick)^math.Float64bits(f.n)^mixed(math.Float64bits(f.x)))%sides == 0
}

// mixed is a hash: the finalizer of MurmurHash3.
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
