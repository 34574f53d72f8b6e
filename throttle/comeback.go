package throttle

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
)

// comeback estimates when a refused operation would be let in. The limiter's
// own answer is how long all that waits takes at the pace of the moment. An emergency, or one bad
// reading, makes that half a minute, when one more may wait as soon as one of those who wait has
// left.
//
// It has two parts. Room is known: when the queue has become short enough. The rest is a
// competition: places come free at some rate, and rivals who ask as well take them.
type comeback struct {
	patience time.Duration // how long one may wait: the queue's timeout
	longest  time.Duration // how long an emergency may last

	// Operations use these two without a lock.
	refused atomic.Uint64           // how many were refused as they came
	answers atomic.Pointer[answers] // of the last decision

	// The rest is guarded by the lock of the throttle.
	count, let  uint64        // how many were refused and let in, up to the last decision
	rivals      float64       // refusals per second: those who will ask again
	lets        float64       // let in per second
	rate, trend float64       // starts per second that the pace allows, and how fast that grows
	since       time.Duration // since the last decision that saw one let in
}

// answers are the results of a decision.
type answers struct {
	room  time.Time     // when the pace leaves room for one more to wait
	paced time.Duration // how long the competition takes from then on
	full  time.Duration // and for a place in a queue that is as long as it may be
	shed  time.Duration // and if a share is refused
	until time.Time     // when the emergency ends at last; the zero time without one
}

const (
	// rivalsOver, letsOver and trendOver are over how long the three are averaged. Rivals change at
	// once when a pace begins, because those who were let in until then are refused: with 1 s,
	// answers in short emergencies were often too late.
	rivalsOver, letsOver, trendOver = 200 * time.Millisecond, time.Second, 200 * time.Millisecond
	// again is how often one asks who asks again and again. Among those who ask more often than
	// that, a free place is gone before it comes by.
	again = 10 * time.Millisecond
	// likely is the answer, in means of the time that the competition takes. It is exponential if
	// rivals are many, and then 0.82 is within a factor of three in 67.5% of cases, 0.7 in 67%
	// (TestBestAnswer). If they are few it is even, and less is better.
	likely = 0.7
	// soon is the least answer where a queue is behind it. Up to 0.45 s it is then not too early by
	// a factor of three.
	soon = 150 * time.Millisecond
)

func (c *comeback) init(patience, longest time.Duration) {
	c.patience, c.longest = patience, longest
	c.answers.Store(&answers{})
}

// learn counts who was let in since the last decision, and who was refused, and answers. The pace
// is that from now on, each the cost of an operation.
func (c *comeback) learn(snap weir.Snapshot, pace Pace, each float64, now time.Time, dt time.Duration) answers {
	let := snap.Admitted + snap.Cancelled + snap.Refused[weir.ReasonQueueTimeout] + uint64(snap.Queued)
	count := c.refused.Load()
	perSecond := func(n, before uint64) float64 { return float64(max(0, int64(n-before))) / dt.Seconds() }
	c.rivals += (perSecond(count, c.count) - c.rivals) * share(dt, rivalsOver)
	c.lets += (perSecond(let, c.let) - c.lets) * share(dt, letsOver)
	c.since += dt
	if int64(let-c.let) > 0 {
		c.since = 0
	}
	c.count, c.let = count, let

	rate := pace.Rate / each
	if rate > 0 && c.rate > 0 {
		c.trend += ((rate-c.rate)/dt.Seconds() - c.trend) * share(dt, trendOver)
	} else {
		c.trend = 0
	}
	c.rate = rate
	places, room := c.places(float64(snap.Queued), dt)
	lets := c.lets
	if rate > 0 {
		lets = min(lets, rate)
	}
	return answers{
		room:  now.Add(time.Duration(room * float64(time.Second))),
		paced: c.competition(places),
		full:  c.competition(lets),
		shed:  c.bounded(again.Seconds() / (1 - pace.Refuse)),
	}
}

// places is how many places come free per second under the pace, and how long it takes until the
// first does, in seconds. Those who wait joined at an even rate and leave when they start or when
// they have waited for as long as they may. A pace that grows makes places besides.
func (c *comeback) places(queued float64, dt time.Duration) (perSecond, room float64) {
	if c.rate == 0 {
		return c.lets, 0
	}
	patience := c.patience.Seconds()
	left := max(c.patience-c.since, dt).Seconds() // until the newest of them has waited for so long
	// The bucket owes for half an operation on average.
	if all := (queued + 0.5) / c.rate; all > patience {
		room = left * (1 - patience/all)
	}
	return max(c.rate, (queued-1)/left) + patience*max(0, c.trend), room
}

// competition is how long one who asks again and again competes for places. A place comes free
// between two of its asks, and it gets it unless a rival asks before.
func (c *comeback) competition(places float64) time.Duration {
	rivals := (c.rivals + places) * again.Seconds() // between two of its asks
	tries := 1.0
	if rivals > 0 {
		tries = rivals / -math.Expm1(-rivals)
	}
	return c.bounded(tries / places)
}

// bounded is the answer to a competition that takes so many seconds on average.
func (c *comeback) bounded(mean float64) time.Duration {
	return time.Duration(min(likely*mean, c.longest.Seconds()) * float64(time.Second))
}

// correct replaces the time in a refusal.
func (c *comeback) correct(r *weir.RefusedError, now time.Time) {
	a := c.answers.Load()
	most := c.longest
	if !a.until.IsZero() {
		most = min(most, a.until.Sub(now))
	}
	if r.Reason != weir.ReasonQueueTimeout {
		c.refused.Add(1)
	}
	// One who adds as much jitter again is back before all who wait now have left, so nothing
	// is idle.
	least := min(soon, r.RetryAfter/2)
	switch r.Reason {
	case weir.ReasonPace:
		r.RetryAfter = max(max(0, a.room.Sub(now))+a.paced, least)
	case weir.ReasonQueueFull:
		r.RetryAfter = max(a.full, least)
	case weir.ReasonOverload:
		r.RetryAfter = a.shed
	}
	r.RetryAfter = max(min(r.RetryAfter, most), again)
}
