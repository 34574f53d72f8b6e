package law

import "time"

// A schedule has the ticks of the wall clock, which limiters that know nothing of each other
// have in common. It is in units of what is measured: ticks are at multiples of a power
// of two seconds, so that the ticks of limiters that measure differently still meet.
type schedule struct {
	period, next int64 // nanoseconds; next is of the wall clock
}

const (
	usualTick = 8 * time.Second
	hotTick   = 4 * time.Second
	tooLate   = 250 * time.Millisecond // for the window to end after a tick

	leastsInTick = 24
	basesInTick  = 6
	// latencies that are in a tick, of which an eighth must do for one
	latenciesInTick = 8
)

// due reports whether a tick is now, and plans the next one.
func (s *schedule) due(now int64, usual, least float64) bool {
	due := s.next
	s.period = int64(usual)
	for float64(s.period) < least*1e9 && s.period < int64(mostPatience) {
		s.period *= 2
	}
	if due <= now || due-now > s.period {
		s.next = (now/s.period + 1) * s.period
	}
	return due != 0 && due <= now && now-due <= max(int64(tooLate), s.period/32)
}

// align has the window that would straddle the next tick end with it.
func (s *schedule) align(p *Plan, now int64) {
	if s.next <= now {
		return
	}
	left := time.Duration(s.next - now)
	if p.Settle+p.Interval+p.Interval/2 < left {
		return
	}
	p.Settle = min(p.Settle, left/2)
	p.Interval = left - p.Settle
	p.MinSamples, p.Carried = leastDone, true
}

// skipped draws from the tick alone, so that limiters skip the same ones.
func skipped(tick int64) bool { return mixed(uint64(tick))%5 < 2 }

// mixed is a hash (the finalizer of MurmurHash3).
func mixed(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
