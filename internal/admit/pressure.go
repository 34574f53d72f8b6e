package admit

import "time"

// pressure is what a node learns from the moment its limit is first reached:
// whom it did not serve, and how fast work drains while the limit holds it back.
type pressure struct {
	unserved [Cancelled - QueueFull + 1]uint64 // by verdict, from QueueFull to Cancelled

	until    int64   // when the limit last held work back
	since    int64   // saturated time since the last completion
	drained  float32 // completions and
	draining float32 // saturated seconds, both faded at every completion

	seldom *seldom
}

// seldom is what few nodes need.
type seldom struct {
	wouldRefuse uint64        // in shadow mode
	empty       chan struct{} // of a shutdown: closed when the node is closed and empty
	pacer       pacer
}

// rare returns what few nodes need, which exists once it was needed.
func (p *pressure) rare() *seldom {
	if p.seldom == nil {
		p.seldom = &seldom{}
	}
	return p.seldom
}

// pressed returns the node's pressure, which exists once it was needed.
func (n *Node) pressed() *pressure {
	if n.pressure == nil {
		n.pressure = &pressure{}
	}
	return n.pressure
}

// pass books saturated time.
func (p *pressure) pass(from, to, lookback int64) {
	if from > p.until {
		p.age(p.fresh(from, lookback))
	}
	p.since += to - from
	p.until = to
}

// fresh is how much of what was counted still holds, 0 to 1. It fades with the time since then
// in which the limit held nothing back, and is gone after a look-back of that or, if that is
// longer, after as much as it was counted in. Saturated time is no such pause: however long
// the work takes, how it drains is being measured.
func (p *pressure) fresh(now, lookback int64) float32 {
	memory := max(float32(lookback)/float32(time.Second), p.draining)
	return max(0, 1-float32(now-p.until)/float32(time.Second)/memory)
}

func (p *pressure) age(fresh float32) {
	p.since = int64(float32(p.since) * fresh)
	p.drained *= fresh
	p.draining *= fresh
}

// completed counts a completion in saturated time.
func (p *pressure) completed(limit int32) {
	keep := 1 - 1/float32(min(max(limit, 16), 128))
	p.drained = float32(p.drained*keep) + 1
	p.draining = float32(p.draining*keep) + float32(p.since)/float32(time.Second)
	p.since = 0
}

// turnAway counts a request that was refused or cancelled.
func (p *pressure) turnAway(v Verdict) { p.unserved[v-QueueFull]++ }

// drainRate returns completions per second of saturated time, 0 if unknown.
func (p *pressure) drainRate(now, lookback int64) float64 {
	if p == nil || p.draining <= 0 || p.fresh(now, lookback) == 0 {
		return 0
	}
	return min(float64(p.drained)/float64(p.draining), float64(time.Second)) // one a nanosecond
}

// drainRate returns how much drains per second while it is held back: as much as
// completed at the limit and as the pace allows, 0 if unknown.
func (n *Node) drainRate(now int64) float64 {
	rate := n.pressure.drainRate(now, n.conf.lookback)
	if n.flags&paced != 0 {
		if pace := n.pressure.seldom.pacer.Rate; rate == 0 || pace > 0 && pace < rate {
			rate = pace
		}
	}
	return rate
}

// refuse counts a refusal and returns when to come back.
func (n *Node) refuse(v Verdict, weight int) int64 {
	if n.meter != nil && v != Overload && !n.lacksGroup(weight) && !n.awaitsPace() {
		n.meter.Refused()
	}
	if v == OverShare {
		n.queue.extras.tenants.refused++
	} else {
		n.pressed().turnAway(v)
	}
	if v == Closed {
		return 0
	}
	return n.retryAfter(weight)
}

// longestRetryAfter bounds what a refusal says. The estimate is of this moment, and who stays
// away for longer than half a minute hears of no better one.
const longestRetryAfter = 30.0

// retryAfter is how long it takes until what waits now, and work of the given weight behind
// it, has drained and the pace is out of debt. Those who were refused are not counted: who
// tries again often would be taken for many.
func (n *Node) retryAfter(weight int) int64 {
	seconds := 0.0
	if rate := n.turnover(); rate > 0 {
		seconds = float64(n.queued()+1) / rate
	}
	if n.hasRate() {
		pacer := &n.pressure.seldom.pacer
		owed := max(-pacer.tokens, float64(weight)) // what started may have been heavier than this
		seconds = max(seconds, (float64(n.weightUpTo(len(pacer.queued)-1))+owed)/pacer.Rate)
	}
	return int64(min(seconds, longestRetryAfter) * float64(time.Second))
}

// turnover is how many slots come free in a second: the drain rate or, if that is not known,
// the limit over the recent latency, by Little's law. It is 0 if neither is known.
func (n *Node) turnover() float64 {
	if rate := n.pressure.drainRate(n.last, n.conf.lookback); rate > 0 || n.meter == nil {
		return rate
	}
	if latency := n.meter.Latest(); latency > 0 {
		return float64(n.limit) / latency.Seconds()
	}
	return 0
}

// latency is the recent latency from dispatch, 0 if nothing has completed.
func (n *Node) latency() time.Duration {
	if n.meter == nil {
		return 0
	}
	return n.meter.EWMA()
}
