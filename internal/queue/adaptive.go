package queue

import (
	"math"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/internal/reply"
)

// Adaptive serves the earliest deadline first. In a lane with a standing queue it serves the newest
// first, and sheds the waiters that are above their target. Decision 0004 has the measurements.
const Adaptive Order = 1

type adaptive struct {
	fifo
	habits
	lanes []laneState
}

// habits are the time that callers give their work, and whether it differs.
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
	// defaultSize bounds the adaptive queue if no size is set.
	defaultSize = 1000
	// mixedSpread is the relative spread above which deadlines are mixed.
	mixedSpread = 0.1
	// arrivalWeight is the weight of one arrival in the averages.
	arrivalWeight = 1.0 / 16
)

// boundsOfAdaptive are the settings. A size of 0 is the default size.
func boundsOfAdaptive(v View, timeout int64) (most int, patience int64) {
	if v.Size == 0 {
		return defaultSize, timeout
	}
	return int(v.Size), timeout
}

// bound is the size, also if it was larger before: the excess is evicted.
func (a *adaptive) bound(_ *Queue, _ *Waiter, v View) int {
	most, _ := boundsOfAdaptive(v, 0)
	return most
}

func (a *adaptive) screen(q *Queue, w *Waiter, v View) reply.Verdict {
	w.latest = q.latestStart(w, v)
	w.expires = min(w.expires, w.latest+1) // its timer fires even if nothing else happens
	if w.HasDeadline() && (!q.InTime(w, v) || a.mixed() && !a.lanes[w.Lane].stands(v.Now) && !q.reachable(w, v)) {
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
	line, k := q.line(i)
	switch {
	case s.stands(v.Now):
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

// gaveWay notes that the queue is full, and therefore standing: the oldest waiters are
// evicted as fast as others come, so that none of them may be above its target.
func (a *adaptive) gaveWay(w *Waiter, now int64) { a.lanes[w.Lane].noteShed(w, now) }

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

// latestStart is the latest time at which w's work must start: early enough to finish or,
// without a deadline, before its time in the queue is up.
func (q *Queue) latestStart(w *Waiter, v View) int64 {
	if w.Deadline != noDeadline {
		return w.Deadline - q.serviceTime(w, v)
	}
	return w.expires
}

// dropLate evicts the waiters that can no longer start in time, and, from standing queues,
// the waiters above their target.
func (a *adaptive) dropLate(q *Queue, now int64) (evicted Chain) {
	for i := range a.lanes {
		s := &a.lanes[i]
		for s.isLate(now) {
			w := s.urgent[0]
			q.evict(w, w.Expiry(), &evicted)
		}
		for s.sheds(q.lanes[i].oldest(byLane), now) {
			w := q.lanes[i].oldest(byLane)
			q.evict(w, w.Expiry(), &evicted)
		}
	}
	return evicted
}
