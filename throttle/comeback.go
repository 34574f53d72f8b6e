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
// The estimate is a competition: places come free as fast as they lately did, or as the new pace
// lets operations start if that is slower, and rivals take them.
type comeback struct {
	// Operations use these two without a lock.
	refused atomic.Uint64          // operations refused on arrival
	answer  atomic.Pointer[answer] // of the last decision

	// The rest is guarded by the lock of the throttle.
	count, let uint64  // operations refused and admitted up to the last decision
	rivals     float64 // refusals per second, each of a client that will try again
	lets       float64 // admissions per second, to the queue or to work
}

type answer struct {
	wait  time.Duration // the competition for a place
	until time.Time     // the latest end of the emergency; the zero time without one
}

const (
	// rivalsOver and letsOver are the time constants of the two averages. Rivals change at once
	// when a pace begins, because clients that were admitted until then are refused: with 1 s,
	// answers in short emergencies were often too late.
	rivalsOver, letsOver = 200 * time.Millisecond, time.Second
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

func (c *comeback) init() {
	c.answer.Store(&answer{})
}

// learn counts admissions and refusals since the last decision, and sets the answer under the new
// pace, in operations per second or 0 for none, and until the end of an emergency.
func (c *comeback) learn(snap weir.Snapshot, pace float64, until time.Time, dt time.Duration) {
	let := snap.Admitted + snap.Cancelled + snap.Refused[weir.ReasonQueueTimeout] + uint64(snap.Queued)
	count := c.refused.Load()
	perSecond := func(n, before uint64) float64 { return float64(max(0, int64(n-before))) / dt.Seconds() }
	c.rivals += (perSecond(count, c.count) - c.rivals) * share(dt, rivalsOver)
	c.lets += (perSecond(let, c.let) - c.lets) * share(dt, letsOver)
	c.count, c.let = count, let

	places := c.lets
	if pace > 0 {
		places = min(places, pace)
	}
	c.answer.Store(&answer{c.competition(places), until})
}

// endEmergency has the answers bounded by no emergency any more.
func (c *comeback) endEmergency() { c.answer.Store(&answer{wait: c.answer.Load().wait}) }

// competition returns how long a client that tries again and again competes for places. A place
// comes free between two of its tries, and goes to a rival that tries first.
func (c *comeback) competition(places float64) time.Duration {
	rivals := (c.rivals + places) * again.Seconds() // between two tries
	tries := 1.0
	if rivals > 0 {
		tries = rivals / -math.Expm1(-rivals)
	}
	return time.Duration(min(likely*tries/places, longest.Seconds()) * float64(time.Second))
}

func (c *comeback) correct(r *weir.RefusedError, now time.Time) {
	a := c.answer.Load()
	most := longest
	if !a.until.IsZero() {
		most = min(most, a.until.Sub(now))
	}
	if r.Reason != weir.ReasonQueueTimeout {
		c.refused.Add(1)
	}
	if r.Reason == weir.ReasonPace || r.Reason == weir.ReasonQueueFull {
		// A client that adds as much jitter again is back before the present waiters have left, so
		// nothing is idle.
		r.RetryAfter = max(a.wait, min(soon, r.RetryAfter/2))
	}
	r.RetryAfter = max(min(r.RetryAfter, most), again)
}
