package admit

import (
	"math"
	"time"
)

// adaptive serves the earliest deadline first, and the newest first in a lane
// whose queue stands. Its constants are those that decision 0004 measured.
type adaptive struct {
	tiers     []tier  // one for each lane
	budget    float64 // average time that callers give their work, in nanoseconds
	spread    float64 // average distance from it
	saturated float64 // share of recent time in which the limit held work back
}

// newAdaptive takes over those who wait already.
func newAdaptive(n *Node) *adaptive {
	a := &adaptive{tiers: make([]tier, len(n.queue.lanes))}
	for i := range n.queue.lanes {
		for w := range n.queue.lanes[i].all(byLane) {
			w.latest = w.expires
			if w.Deadline != noDeadline {
				w.latest = n.latestStart(w, w.joined)
			}
			a.tiers[i].push(w)
		}
	}
	return a
}

const (
	// boundLimits is how many limits long the queue may be. Twice as long
	// gained nothing, half as long refuses sooner and loses bursts.
	boundLimits = 4
	// patience is how many latencies work without a deadline may wait.
	patience = 4
	// standingBudgets is how long, in budgets, a queue that never empties is
	// taken for a burst.
	standingBudgets = 2
	// standingShare is the share of saturated time above which the queue
	// stands even if it empties now and then.
	standingShare = 0.8
	// tierRefusals is the share of refused work above which a lane among
	// several turns to the newest first.
	tierRefusals = 0.1
	// mixedSpread is the relative spread above which deadlines are mixed.
	mixedSpread = 0.1
	// Saturation is averaged over this many latencies, and at least over
	// this time.
	saturationLatencies = 20
	saturationAtLeast   = 300 * time.Millisecond
	// arrivalWeight is the weight of one arrival in the averages.
	arrivalWeight = 1.0 / 16
)

func (a *adaptive) join(n *Node, w *Waiter, now int64, fx *Effects) Verdict {
	a.learn(w, now)
	a.dropLate(n, now, fx)
	w.latest = n.latestStart(w, now)
	w.expires = min(w.expires, w.latest+1) // its timer tells even if nothing else happens
	t := &a.tiers[w.Lane]
	late := !n.inTime(w, now) || a.mixed() && !a.standing(n, t, now) && !n.reachable(w, now)
	t.note(late)
	if late {
		return Deadline
	}
	n.insert(w)
	for n.queued() > a.bound(n, w, now) {
		line, k := n.surplus(w)
		out := line.oldest(k)
		if verdict := n.giveWay(out, w, fx); verdict != Waiting {
			return verdict
		}
		a.tiers[out.Lane].note(true)
	}
	return Waiting
}

func (a *adaptive) next(n *Node, now int64, fx *Effects) *Waiter {
	a.dropLate(n, now, fx)
	i := n.queue.turn()
	if i < 0 {
		return nil
	}
	t := &a.tiers[i]
	alone := len(t.urgent) == n.queued()
	line, k := n.line(i)
	switch {
	case a.standing(n, t, now) && (alone || t.refused > tierRefusals):
		return line.newest
	case k == byTenant:
		return line.mostUrgent(k)
	}
	return t.urgent[0]
}

// learn notes how much time callers give their work, and whether that differs.
func (a *adaptive) learn(w *Waiter, now int64) {
	if w.Deadline == noDeadline {
		return
	}
	given := float64(w.Deadline - now)
	if a.budget == 0 {
		a.budget = given
	}
	a.spread = toward(a.spread, math.Abs(given-a.budget), arrivalWeight)
	a.budget = toward(a.budget, given, arrivalWeight)
}

// mixed reports whether deadlines differ.
func (a *adaptive) mixed() bool { return a.spread > mixedSpread*a.budget }

// latestStart is when w's work must have started: early enough to finish, or,
// without a deadline, within a few latencies.
func (n *Node) latestStart(w *Waiter, now int64) int64 {
	if w.Deadline != noDeadline {
		return w.Deadline - n.serviceTime(w, now)
	}
	if r := n.latency(); r > 0 {
		return now + patience*int64(r)
	}
	return w.expires
}

// dropLate answers those that can no longer start in time.
func (a *adaptive) dropLate(n *Node, now int64, fx *Effects) {
	for i := range a.tiers {
		t := &a.tiers[i]
		for len(t.urgent) > 0 && t.urgent[0].latest < now {
			w := t.urgent[0]
			t.note(true)
			n.reject(w, w.expiry(), fx)
		}
	}
}

// bound is how many may wait: a few limits, and no more than can drain within
// the time that w has, or within half of what callers usually give, lest one in a
// hurry empty the queue.
func (a *adaptive) bound(n *Node, w *Waiter, now int64) int {
	bound := n.longestQueue()
	if rate := n.drainRate(now); rate > 0 {
		slack := max(0, time.Duration(w.latest-now), time.Duration(a.budget)/2).Seconds()
		bound = min(bound, int(rate*slack))
	}
	return max(1, bound)
}

// longestQueue is how many may wait however fast they drain.
func (n *Node) longestQueue() int {
	longest := boundLimits * int(n.limit)
	if n.conf.queueSize > 0 {
		longest = min(longest, int(n.conf.queueSize))
	}
	return longest
}

// standing reports whether the tier's queue has outlasted any burst.
func (a *adaptive) standing(n *Node, t *tier, now int64) bool {
	budget := a.budget
	if budget == 0 {
		budget = patience * float64(n.latency())
	}
	stood := len(t.urgent) > 0 && float64(now-t.since) > standingBudgets*budget
	return stood || a.saturated > standingShare
}

// pass notes that the limit did or did not hold work back for the last d
// nanoseconds.
func (a *adaptive) pass(n *Node, d int64, saturated bool) {
	tau := max(saturationAtLeast, saturationLatencies*n.latency())
	target := 0.0
	if saturated {
		target = 1
	}
	a.saturated = toward(a.saturated, target, 1-fade(float64(d)/float64(tau)))
}

// fade is what a time, in time constants, leaves of a memory: e^-t, from two terms
// of the series of e^(t/8). It is within 0.3% for t up to 1 and falls for ever.
// [math.Exp] is slower, and not the same on every machine.
func fade(t float64) float64 {
	t /= 8
	grown := 1 + float64(t*(1+float64(t/2)))
	grown *= grown
	grown *= grown
	return 1 / (grown * grown)
}

// toward goes a share of the way from one number to another. The conversion has
// the product rounded before the sum, which some machines would else compute in
// one, with another result.
func toward(from, to, share float64) float64 { return from + float64(share*(to-from)) }
