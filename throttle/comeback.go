package throttle

import (
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
)

// comeback is what is known of when one who was refused would be let in. The limiter's own answer is how long all that waits takes at
// the pace of the moment. An emergency, or one bad reading, makes that half a minute, when one more may wait as soon as one
// of those who wait has started.
type comeback struct {
	patience time.Duration // how long one may wait: the queue's timeout
	longest  time.Duration // how long an emergency may last
	turn     atomic.Int64  // how long it takes until one who asks again and again is let in, in nanoseconds
	until    atomic.Int64  // when the emergency ends at last, in nanoseconds of Unix time; 0 without one

	asked, let uint64        // how many, up to the last decision
	asks, lets float64       // per second
	since      time.Duration // since the last decision that saw one let in
}

const (
	// askedFor is over how long asks and admissions are averaged. With 3 s a tenth fewer of the answers were right, with 8 s a
	// seventh (TestRetryAfterIsRight).
	askedFor = time.Second
	// again is how often one asks who asks again and again. Among those who ask more often than that, a free place is gone
	// before it comes by.
	again = 10 * time.Millisecond
)

// learn counts who asked since the last decision and who was let in: started, or had a place in the queue.
func (c *comeback) learn(now weir.Snapshot, dt time.Duration) {
	let := now.Admitted + now.Cancelled + now.Refused[weir.ReasonQueueTimeout] + uint64(now.Queued)
	asked := let
	for reason, n := range now.Refused {
		if reason != weir.ReasonQueueTimeout {
			asked += n
		}
	}
	part := share(dt, askedFor)
	c.asks += (float64(max(0, int64(asked-c.asked)))/dt.Seconds() - c.asks) * part
	c.lets += (float64(max(0, int64(let-c.let)))/dt.Seconds() - c.lets) * part
	c.since += dt
	if int64(let-c.let) > 0 {
		c.since = 0
	}
	c.asked, c.let = asked, let
	turn := c.longest.Seconds()
	if c.lets > 0 {
		turn = max(1/c.lets, again.Seconds()*c.asks/c.lets)
	}
	c.turn.Store(int64(min(max(turn, c.since.Seconds()), c.longest.Seconds()) * float64(time.Second)))
}

// room is how long it takes until one more may wait, when all that waits would take so long at the pace of the moment. Those
// who wait came at an even rate and each waits no longer than it may, so the queue gets shorter from both ends.
func (c *comeback) room(all time.Duration) time.Duration {
	if all <= c.patience {
		return 0
	}
	return time.Duration(c.patience.Seconds() * float64(all-c.patience) / (all + c.patience).Seconds())
}

// correct replaces what a refusal says.
func (c *comeback) correct(r *weir.RefusedError, now time.Time) {
	most := c.longest
	if until := c.until.Load(); until != 0 {
		most = min(most, time.Duration(until-now.UnixNano()))
	}
	turn := time.Duration(c.turn.Load())
	switch r.Reason {
	case weir.ReasonPace, weir.ReasonQueueFull:
		r.RetryAfter = min(max(c.room(r.RetryAfter), turn), most)
	case weir.ReasonOverload:
		r.RetryAfter = turn
	default:
		r.RetryAfter = min(r.RetryAfter, most)
	}
	r.RetryAfter = max(r.RetryAfter, again)
}
