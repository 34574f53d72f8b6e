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
	virtual     *virtual // in shadow mode
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
	n.hear(v, weight)
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

// hear has the law hear of a refusal, unless it was the group, the pace or its share that refused.
func (n *Node) hear(v Verdict, weight int) {
	if n.meter != nil && v != Overload && !n.lacksGroup(weight) && !n.awaitsPace() {
		n.meter.Refused()
	}
}

// longestRetryAfter bounds what a refusal says. The estimate is of this moment, and who stays
// away for longer than half a minute hears of no better one.
const longestRetryAfter = 30.0

// retryAfter is how long it takes until what runs and what waits now has drained and the pace has
// room for work of the given weight. Earlier, only a slot or two come free, for which all who were
// refused would try: 40 clients of ten slots tried 2,200 times a second and not 320. Refusals
// are not counted, because a client that tries often would be taken for many.
func (n *Node) retryAfter(weight int) int64 {
	seconds := 0.0
	if rate := n.turnover(); rate > 0 {
		seconds = float64(n.queued()+n.unfinished()) / rate
	}
	if n.hasRate() {
		pacer := &n.pressure.seldom.pacer
		owed := max(-pacer.tokens, float64(weight)) // what started may have been heavier than this
		seconds = max(seconds, (float64(n.weightUpTo(len(pacer.queued)-1))+owed)/pacer.Rate)
	}
	return int64(min(seconds, longestRetryAfter) * float64(time.Second))
}

// unfinished is how many pieces of work run, and at least 1.
func (n *Node) unfinished() int { return max(int(n.admitted-n.completed), 1) }

// turnover is how many pieces of work end in a second: the drain rate or, if that is not known,
// those that run over the recent latency, by Little's law. It is 0 if neither is known.
func (n *Node) turnover() float64 {
	if rate := n.pressure.drainRate(n.last, n.conf.lookback); rate > 0 || n.meter == nil {
		return rate
	}
	if latency := n.meter.Latest(); latency > 0 {
		return float64(n.unfinished()) / latency.Seconds()
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
