package queue

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/internal/reply"
)

// Adaptive serves the earliest deadline first, and the newest first in a lane
// with a standing queue. Its constants are those that decision 0004 measured.
const Adaptive Order = 1

type adaptive struct {
	fifo
	habits
	lanes     []laneState
	saturated float64 // share of recent time in which the limit held work back
}

// habits are how much time callers give their work, and whether that differs.
type habits struct {
	budget float64 // the average, in nanoseconds
	spread float64 // average distance from it
}

func startAdaptive(q *Queue, v View) discipline {
	a := &adaptive{lanes: make([]laneState, len(q.lanes))}
	for i := range q.lanes {
		for w := range q.lanes[i].all(byLane) {
			w.latest = w.expires
			if w.Deadline != noDeadline {
				v.Now = w.joined
				w.latest = q.latestStart(w, v)
			}
			a.lanes[i].push(w)
		}
	}
	return a
}

const (
	// boundLimits is how many limits long the queue may be. Twice as long
	// gained nothing, half as long refuses sooner and loses bursts.
	boundLimits = 4
	// waitLatencies is how many latencies work without a deadline may wait.
	waitLatencies = 4
	// standingBudgets is how long, in budgets, a queue that never empties is
	// taken for a burst.
	standingBudgets = 2
	// standingShare is the share of saturated time above which the queue
	// stands even if it empties now and then.
	standingShare = 0.8
	// laneRefusals is the share of refused work above which a lane among
	// several turns to the newest first.
	laneRefusals = 0.1
	// mixedSpread is the relative spread above which deadlines are mixed.
	mixedSpread = 0.1
	// Saturation is averaged over this many latencies, and at least over
	// this time.
	saturationLatencies = 20
	saturationAtLeast   = 300 * time.Millisecond
	// arrivalWeight is the weight of one arrival in the averages.
	arrivalWeight = 1.0 / 16
)

// boundsOfAdaptive are a few limits and latencies. A size of 0 is no other bound.
func boundsOfAdaptive(v View, timeout int64) (most int, patience int64) {
	patience = timeout
	if r := v.Measured.Latency(); r > 0 {
		patience = min(patience, waitLatencies*int64(r))
	}
	return v.longest(), patience
}

// longest is how many may wait however fast they drain.
func (v *View) longest() int {
	longest := boundLimits * int(v.Limit)
	if v.Size > 0 {
		longest = min(longest, int(v.Size))
	}
	return longest
}

func (a *adaptive) screen(q *Queue, w *Waiter, v View) reply.Verdict {
	w.latest = q.latestStart(w, v)
	w.expires = min(w.expires, w.latest+1) // its timer tells even if nothing else happens
	if w.HasDeadline() && (!q.InTime(w, v) || a.mixed() && !a.standing(&a.lanes[w.Lane], v) && !q.reachable(w, v)) {
		return reply.Deadline
	}
	return reply.Waiting
}

func (a *adaptive) yields(among *lane, k kind) *Waiter { return among.oldest(k) }

func (a *adaptive) next(q *Queue, v View) (next *Waiter, evicted Chain) {
	evicted = a.dropLate(q, v.Now)
	i := q.pickLane()
	if i < 0 {
		return nil, evicted
	}
	s := &a.lanes[i]
	alone := len(s.urgent) == int(q.length)
	line, k := q.line(i)
	switch {
	case a.standing(s, v) && (alone || s.refused > laneRefusals):
		return line.newest, evicted
	case k == byTenant:
		return line.mostUrgent(k), evicted
	}
	return s.urgent[0], evicted
}

func (a *adaptive) quantile() float64 {
	if a.mixed() {
		return mixedQuantile
	}
	return likeQuantile
}

func (a *adaptive) added(w *Waiter)   { a.lanes[w.Lane].push(w) }
func (a *adaptive) removed(w *Waiter) { a.lanes[w.Lane].remove(w) }

func (a *adaptive) note(w *Waiter, refused bool) { a.lanes[w.Lane].note(refused) }

func (a *adaptive) recall(h habits) { a.habits = h }

func (a *adaptive) learn(w *Waiter, now int64) (before habits) {
	before = a.habits
	if w.Deadline == noDeadline {
		return before
	}
	given := float64(w.Deadline - now)
	if a.budget == 0 {
		a.budget = given
	}
	a.spread = portable.Toward(a.spread, math.Abs(given-a.budget), arrivalWeight)
	a.budget = portable.Toward(a.budget, given, arrivalWeight)
	return before
}

// mixed reports whether deadlines differ.
func (a *adaptive) mixed() bool { return a.spread > mixedSpread*a.budget }

// latestStart is when w's work must have started: early enough to finish, or,
// without a deadline, within a few latencies.
func (q *Queue) latestStart(w *Waiter, v View) int64 {
	if w.Deadline != noDeadline {
		return w.Deadline - q.serviceTime(w, v)
	}
	if r := v.Measured.Latency(); r > 0 {
		return v.Now + waitLatencies*int64(r)
	}
	return w.expires
}

// anyLate reports whether dropLate has anything to do. Mostly it has not.
func (a *adaptive) anyLate(now int64) bool {
	for i := range a.lanes {
		if a.lanes[i].isLate(now) {
			return true
		}
	}
	return false
}

// dropLate evicts those that can no longer start in time.
func (a *adaptive) dropLate(q *Queue, now int64) (evicted Chain) {
	if !a.anyLate(now) {
		return evicted
	}
	for i := range a.lanes {
		s := &a.lanes[i]
		for s.isLate(now) {
			w := s.urgent[0]
			s.note(true)
			q.evict(w, w.Expiry(), &evicted)
		}
	}
	return evicted
}

// bound is how many may wait: a few limits, and no more than can drain within
// the time that w has, or within half of what callers usually give, so that one in a
// hurry does not empty the queue.
func (a *adaptive) bound(q *Queue, w *Waiter, v View) int {
	bound := v.longest()
	if rate := q.drainRate(v); rate > 0 {
		slack := max(0, time.Duration(w.latest-v.Now), time.Duration(a.budget)/2).Seconds()
		bound = int(min(float64(bound), rate*slack))
	}
	return max(1, bound)
}

// standing reports whether the lane's queue has outlasted any burst.
func (a *adaptive) standing(s *laneState, v View) bool {
	switch {
	case a.saturated > standingShare:
		return true
	case len(s.urgent) == 0:
		return false
	}
	budget := a.budget
	if budget == 0 {
		budget = waitLatencies * float64(v.Measured.Latency())
	}
	return float64(v.Now-s.since) > standingBudgets*budget
}

func (a *adaptive) pass(d int64, saturated bool, latency time.Duration) {
	tau := max(saturationAtLeast, saturationLatencies*latency)
	target := 0.0
	if saturated {
		target = 1
	}
	a.saturated = portable.Toward(a.saturated, target, 1-fade(float64(d)/float64(tau)))
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
