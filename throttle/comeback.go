package throttle

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
)

// comeback estimates when a refused operation would be admitted. The limiter's own answer is the
// time in which the whole queue drains at the current pace. In an emergency, or after one bad
// reading, that is half a minute, though another operation may wait as soon as one waiter leaves.
//
// The estimate has two parts. One is known: when the queue is short enough to have room. The other
// is a competition: places come free at some rate, and rivals take them.
type comeback struct {
	patience time.Duration // the longest wait: the queue's timeout
	longest  time.Duration // how long an emergency may last

	// Operations use these two without a lock.
	refused atomic.Uint64           // operations refused on arrival
	answers atomic.Pointer[answers] // of the last decision

	// The rest is guarded by the lock of the throttle.
	count, let  uint64        // operations refused and admitted up to the last decision
	rivals      float64       // refusals per second, each of a client that will try again
	lets        float64       // admissions per second, to the queue or to work
	rate, trend float64       // starts per second that the pace allows, and its growth per second
	since       time.Duration // since a decision last saw an admission
}

type answers struct {
	room  time.Time     // when the queue has room for another waiter
	paced time.Duration // the competition from then on
	full  time.Duration // the competition for a place in a full queue
	until time.Time     // the latest end of the emergency; the zero time without one
}

const (
	// rivalsOver, letsOver and trendOver are the time constants of the three averages. Rivals
	// change at once when a pace begins, because clients that were admitted until then are refused:
	// with 1 s, answers in short emergencies were often too late.
	rivalsOver, letsOver, trendOver = 200 * time.Millisecond, time.Second, 200 * time.Millisecond
	// again is the interval at which a client tries again. Rivals that try more often take a free
	// place before it does.
	again = 10 * time.Millisecond
	// likely is the answer as a multiple of the mean duration of the competition. With many rivals
	// the duration is exponential: then 0.82 is within a factor of three in 67.5% of cases, 0.7 in
	// 67%. With few rivals it is uniform, and less is better.
	likely = 0.7
	// soon is the least answer while operations wait. It is right for up to 0.45 s, a factor of
	// three.
	soon = 150 * time.Millisecond
)

func (c *comeback) init(patience, longest time.Duration) {
	c.patience, c.longest = patience, longest
	c.answers.Store(&answers{})
}

// learn counts admissions and refusals since the last decision, and returns the answers under the
// new pace. The mean cost of an operation is each.
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
	}
}

// places returns how many places come free per second under the pace, and after how many seconds
// the first does. Waiters joined at an even rate, and leave when they start or time out. A growing
// pace adds places.
func (c *comeback) places(queued float64, dt time.Duration) (perSecond, room float64) {
	if c.rate == 0 {
		return c.lets, 0
	}
	patience := c.patience.Seconds()
	left := max(c.patience-c.since, dt).Seconds() // until the newest waiter times out
	// The bucket owes for half an operation on average.
	if all := (queued + 0.5) / c.rate; all > patience {
		room = left * (1 - patience/all)
	}
	return max(c.rate, (queued-1)/left) + patience*max(0, c.trend), room
}

// competition returns how long a client that tries again and again competes for places. A place
// comes free between two of its tries, and goes to a rival that tries first.
func (c *comeback) competition(places float64) time.Duration {
	rivals := (c.rivals + places) * again.Seconds() // between two tries
	tries := 1.0
	if rivals > 0 {
		tries = rivals / -math.Expm1(-rivals)
	}
	return c.bounded(tries / places)
}

// bounded is the answer to a competition with this mean duration in seconds.
func (c *comeback) bounded(mean float64) time.Duration {
	return time.Duration(min(likely*mean, c.longest.Seconds()) * float64(time.Second))
}

func (c *comeback) correct(r *weir.RefusedError, now time.Time) {
	a := c.answers.Load()
	most := c.longest
	if !a.until.IsZero() {
		most = min(most, a.until.Sub(now))
	}
	if r.Reason != weir.ReasonQueueTimeout {
		c.refused.Add(1)
	}
	// A client that adds as much jitter again is back before the present waiters have left, so
	// nothing is idle.
	least := min(soon, r.RetryAfter/2)
	switch r.Reason {
	case weir.ReasonPace:
		r.RetryAfter = max(max(0, a.room.Sub(now))+a.paced, least)
	case weir.ReasonQueueFull:
		r.RetryAfter = max(a.full, least)
	}
	r.RetryAfter = max(min(r.RetryAfter, most), again)
}
