package admit

import (
	"math"
	"time"
)

// A Pace bounds how fast work starts, besides how much of it may run. The zero
// Pace bounds nothing.
type Pace struct {
	Rate   float64 // weight per second; 0 is no bound
	Burst  float64 // weight that may start at once after a pause
	Refuse float64 // share of the work that is refused, 0 to 1
}

// pacer is a token bucket that may be in debt: work starts when it owes nothing,
// and then owes its weight. So work heavier than the burst starts as well, and the
// rate is exact in the long run.
type pacer struct {
	Pace
	tokens float64
	toShed float64 // weight that is still to be refused
	queued []int   // weight that waits in each lane
}

// trace is the rounding that a wait for tokens may leave.
const trace = 1e-6

// fill adds what has flowed in since the last call.
func (p *pacer) fill(elapsed int64) {
	if p.Rate > 0 {
		p.tokens = min(p.Burst, p.tokens+float64(p.Rate*float64(elapsed)/float64(time.Second)))
	}
}

// sheds reports whether work of the given weight is among the share to refuse. It
// is every so manieth, not a random choice.
func (p *pacer) sheds(weight int) bool {
	p.toShed += float64(p.Refuse * float64(weight))
	if p.toShed < float64(weight) {
		return false
	}
	p.toShed -= float64(weight)
	return true
}

// wait is how long it takes until so much weight more than now has started.
func (p *pacer) wait(weight int) int64 {
	if p.Rate <= 0 {
		return 0
	}
	seconds := max(0, float64(weight)-p.tokens) / p.Rate
	return int64(min(math.Ceil(seconds*float64(time.Second)), 1<<60))
}

// SetPace replaces the pace. Those who wait are served as it allows.
func (n *Node) SetPace(p Pace, now int64, fx *Effects) {
	n.lock()
	defer n.unlock()
	now = n.advance(now, fx)
	if p != (Pace{}) || n.flags&paced != 0 {
		pacer := &n.pressed().rare().pacer
		if n.flags&paced == 0 || pacer.Rate == 0 {
			pacer.tokens = 0 // neither credit nor debt for the time without a rate
		}
		pacer.Pace = p
	}
	if begins := p != (Pace{}) && n.flags&paced == 0; begins {
		n.weighQueue()
	}
	n.flags.set(paced, p != (Pace{}))
	n.serve(now, fx)
}

// Pace returns the pace.
func (n *Node) Pace() Pace {
	n.lock()
	defer n.unlock()
	if n.flags&paced == 0 {
		return Pace{}
	}
	return n.pressure.seldom.pacer.Pace
}

func (n *Node) sheds(weight int) bool {
	return n.flags&(paced|closed) == paced && n.pressure.seldom.pacer.sheds(weight)
}

// owe takes the tokens for work that starts.
func (n *Node) owe(weight int) {
	if n.hasRate() {
		n.pressure.seldom.pacer.tokens -= float64(weight)
	}
}

func (n *Node) hasRate() bool {
	return n.flags&paced != 0 && n.pressure.seldom.pacer.Rate > 0
}

// onPace reports whether the pace lets work start now.
func (n *Node) onPace() bool {
	return !n.hasRate() || n.pressure.seldom.pacer.tokens >= -trace
}

// awaitsPace reports whether work has to wait though the limit has room.
func (n *Node) awaitsPace() bool { return n.inflight < int64(n.limit) && !n.onPace() }

// paceDelay is how long the pace holds work back that so much weight is ahead of.
func (n *Node) paceDelay(ahead int) int64 {
	if n.flags&paced == 0 {
		return 0
	}
	return n.pressure.seldom.pacer.wait(ahead)
}

// weighQueue finds the weight of what waits in each lane.
func (n *Node) weighQueue() {
	pacer := &n.pressure.seldom.pacer
	pacer.queued = make([]int, max(1, int(n.conf.lanes)))
	for i := range pacer.queued {
		if n.queued() == 0 {
			return
		}
		for w := range n.queue.lanes[i].all(byLane) {
			pacer.queued[i] += w.Weight
		}
	}
}

// weigh notes that so much more waits in a lane.
func (n *Node) weigh(lane, weight int) {
	if n.flags&paced != 0 {
		n.pressure.seldom.pacer.queued[lane] += weight
	}
}

// weightUpTo is the weight of all that waits in a lane and those above it, if the
// node has a pace.
func (n *Node) weightUpTo(lane int) (weight int) {
	if n.flags&paced == 0 {
		return 0
	}
	for _, queued := range n.pressure.seldom.pacer.queued[:lane+1] {
		weight += queued
	}
	return weight
}

// soonest is how soon a waiter looks again, and by how much its turn must have moved
// for it to be told.
const soonest = int64(time.Millisecond)

// remindSooner has w, who is next, look again when the pace lets it start: no call may
// pass by at that moment. Behind it nobody needs to, for the one who starts makes
// another next.
func (n *Node) remindSooner(w *Waiter, now int64, fx *Effects) {
	if n.onPace() {
		return
	}
	due := now + max(n.paceDelay(0), soonest)
	if due+soonest >= w.remind {
		return
	}
	w.remind = due
	w.nudge(fx)
}
