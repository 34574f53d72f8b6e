package admit

import (
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/virtual"
)

// contention holds the measurements that begin when a node first reaches its limit: the refused
// requests, and the rate at which work drains at the limit.
type contention struct {
	refused   [reply.Refusals - reply.OverShare]uint64 // by verdict, from OverShare: no node refuses a key
	cancelled uint64

	until    int64   // when the limit last held work back
	since    int64   // saturated time since the last completion
	drained  float32 // completions and
	draining float32 // saturated seconds, both faded at every completion

	cold *cold
}

// cold is the state that few nodes use.
type cold struct {
	wouldRefuse uint64        // number of refusals in shadow mode
	empty       chan struct{} // for Drain: closed when the node is closed and empty
	pacer       pacer
	cap         int32         // with the flag capped
	virtual     *virtual.Work // in shadow mode
	corrected   int64         // see Corrected
	held        int64         // with the flag holding; in shadow mode the weight of virtual work
	excess      int64         // see held.go
	overloaded  uint64        // pieces of work that the downstream refused
	late        uint64        // pieces of work whose caller had left
	pushback    pushback
	rest        time.Duration // of the slot of refused work, as the law plans
	rests       rests
	heard       uint64     // pieces of work in flight that were measured
	deadlines   *deadlines // nil until the first work with a deadline
}

// A pushback is the state of a downstream that refuses work and names a time to come back.
type pushback struct {
	after int64  // the delay that the downstream named
	until int64  // end of the delay
	next  int64  // when to send one piece of work before until
	row   uint32 // refusals in a row
	since int64  // when the first of these refusals came
}

// turnBack moves the times to now at the latest, because the clock was turned back.
func (p *pushback) turnBack(now int64) {
	p.until, p.next, p.since = min(p.until, now), min(p.next, now), min(p.since, now)
}

// coldPart allocates the rarely used state on first use.
func (p *contention) coldPart() *cold {
	if p.cold == nil {
		p.cold = &cold{}
	}
	return p.cold
}

// pass books saturated time, and first fades the counts by the unsaturated time before it.
func (p *contention) pass(from, to, lookback int64) {
	if from > p.until {
		fresh := p.fresh(from, lookback)
		p.since = int64(float32(p.since) * fresh)
		p.drained *= fresh
		p.draining *= fresh
	}
	p.since += to - from
	p.until = to
}

// fresh is the share of the counts that still holds, 0 to 1. It falls with the time in which the
// limit has held no work back. It reaches 0 after one look-back or, if the counts cover a longer
// time, after that time. It does not fall in saturated time: however long the work takes, the drain
// rate is being measured.
func (p *contention) fresh(now, lookback int64) float32 {
	memory := max(float32(lookback)/float32(time.Second), p.draining)
	return max(0, 1-float32(now-p.until)/float32(time.Second)/memory)
}

// completed counts a completion in saturated time.
func (p *contention) completed(limit int32) {
	keep := 1 - 1/float32(min(max(limit, 16), 128))
	p.drained = float32(p.drained*keep) + 1
	p.draining = float32(p.draining*keep) + float32(p.since)/float32(time.Second)
	p.since = 0
}

// count counts a request that was refused or cancelled.
func (p *contention) count(v reply.Verdict) {
	if v == reply.Cancelled {
		p.cancelled++
		return
	}
	p.refused[v-reply.OverShare]++
}

// drainRate returns completions per second of saturated time, 0 if unknown.
func (p *contention) drainRate(now, lookback int64) float64 {
	if p == nil || p.draining <= 0 || p.fresh(now, lookback) == 0 {
		return 0
	}
	return min(float64(p.drained)/float64(p.draining), float64(time.Second)) // one a nanosecond
}

// arrive notes the deadline of work that arrives, 0 without one. Before the limit was reached
// there is no contention, and no law reads the deadlines.
func (p *contention) arrive(deadline, now int64) {
	if deadline != 0 || p.hasDeadlines() {
		p.addDeadline(deadline, now)
	}
}

func (p *contention) hasDeadlines() bool { return p.cold != nil && p.cold.deadlines != nil }

func (p *contention) addDeadline(deadline, now int64) {
	c := p.coldPart()
	if c.deadlines == nil {
		c.deadlines = &deadlines{}
	}
	left := endless
	if deadline != 0 {
		left = float32(time.Duration(deadline - now).Seconds())
	}
	c.deadlines.add(left)
}

// deadline is the median of the time that arrivals had left, 0 if most arrivals had no deadline.
func (p *contention) deadline() time.Duration {
	if p == nil || !p.hasDeadlines() {
		return 0
	}
	return p.cold.deadlines.median()
}

// expect makes the median leave out arrivals that have less time left.
func (p *contention) expect(least time.Duration) {
	if p != nil && p.hasDeadlines() {
		p.cold.deadlines.least = float32(least.Seconds())
	}
}
