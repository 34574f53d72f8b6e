package admit

import "time"

// pressure is what a node learns from the moment its limit is first reached:
// whom it did not serve, and how fast work drains while the limit holds it back.
type pressure struct {
	unserved [Cancelled - QueueFull + 1]uint64 // by verdict, from QueueFull to Cancelled

	second       int64  // the second, counted on the node's time, of the next two
	refusedNow   uint32 // refusals in this second
	refusedPrior uint32 // and in the one before

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
func (p *pressure) drainRate() float64 {
	if p == nil || p.draining <= 0 {
		return 0
	}
	return min(float64(p.drained)/float64(p.draining), float64(time.Second)) // one a nanosecond
}

// drainRate returns how much drains per second while it is held back: as much as
// completed at the limit and as the pace allows, 0 if unknown.
func (n *Node) drainRate() float64 {
	rate := n.pressure.drainRate()
	if n.flags&paced != 0 {
		if pace := n.pressure.seldom.pacer.Rate; rate == 0 || pace > 0 && pace < rate {
			rate = pace
		}
	}
	return rate
}

// refuse counts a refusal and returns when to come back: when all that waits,
// and all that was refused within the last second, has drained, and the pace is out of debt.
func (n *Node) refuse(v Verdict, weight int, now int64) int64 {
	if n.meter != nil && v != Overload && !n.lacksGroup(weight) && !n.awaitsPace() {
		n.meter.Refused()
	}
	p := n.pressed()
	if v == OverShare {
		n.queue.extras.tenants.refused++
	} else {
		p.turnAway(v)
	}
	switch second := now / int64(time.Second); {
	case second == p.second+1:
		p.second, p.refusedPrior, p.refusedNow = second, p.refusedNow, 0
	case second != p.second:
		p.second, p.refusedPrior, p.refusedNow = second, 0, 0
	}
	p.refusedNow++
	if v == Closed {
		return 0
	}
	gone := float64(now%int64(time.Second)) / float64(time.Second)
	recent := float64(p.refusedNow) + float64(float64(p.refusedPrior)*(1-gone))
	seconds := 0.0
	if rate := p.drainRate(); rate > 0 {
		seconds = (float64(n.queued()) + recent) / rate
	}
	if n.hasRate() { // of those refused it is not known what they weighed
		pacer := &p.seldom.pacer
		owed := max(-pacer.tokens, float64(weight)) // what started may have been heavier than this
		ahead := float64(n.weightUpTo(len(pacer.queued)-1)) + float64((recent-1)*float64(weight)) + owed
		seconds = max(seconds, ahead/pacer.Rate)
	}
	return int64(min(seconds, 3600) * float64(time.Second))
}

// latency is the recent latency from dispatch, 0 if nothing has completed.
func (n *Node) latency() time.Duration {
	if n.meter == nil {
		return 0
	}
	return n.meter.EWMA()
}
