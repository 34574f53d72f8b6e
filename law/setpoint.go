package law

import "time"

// Setpoint holds the latency at a small multiple of the latency without load, which it measures
// again and again.
//
// # The idea
//
// The latency of a server that is kept slightly too full shows everything: lost capacity
// raises it, new capacity lowers it. So no probe upwards is needed. One value must be known,
// the no-load latency, and load hides it. Probes downwards measure it: the limit is lowered
// for a few latencies, which costs no throughput while there is a queue. The probes are at
// common ticks of the wall clock ([Window].Closed), so that all limiters of a server take
// part without knowing of each other.
//
// # The law
//
// A window has the concurrency n, the throughput X, and the latency R. R is the geometric mean of
// Little's n/X and of the mean latency of all work that ended. Little's n/X reacts at once, but
// completions in waves mislead it; the mean latency is never misled, but is late.
//
// B is the no-load latency and G the target latency: 1.65 B at the start. A probe that finds a
// queue lowers the factor, down to 1.3 + 0.7/n, and lowers it more the more work it measures. The
// factor rises again if B rises or is in doubt, or if a probe finds no queue. Doubt ends at a tick
// that all limiters share. Limiters with a B above half a second have no such tick, so their doubt
// lasts. With a budget, G is at most half of the budget, and at least 1.1 B. The budget is a
// setting, or else the median of the time left to work when it arrives, if most work has a
// deadline. Deadlines below B are left out.
//
// The first move that fits answers the window:
//
//   - wait: too little work ended. After a fan-out to an idle server, the law waits for most of the
//     calls.
//   - fail: hardly anything succeeds, and the work hangs until it times out or its callers leave.
//     The limit goes to half of the work in flight, even if it was not reached. Once work succeeds
//     again, the limit climbs as in a start.
//   - leave: the limit was never reached, so there is no evidence against it.
//   - probe: a tick has come, or work in a limiter that has just started takes long. The limit goes
//     to 0.85 B/R of the concurrency. The elasticity q = dln R/dln n classifies R there. Above 0.5
//     there is still a queue, and the limit is lowered again; else R is the no-load latency, as it
//     is at the least limit. A latency near B ends the probe early. After a rise of B, it does not
//     end the probe at the next tick that all limiters share, which comes every 16 s: the queue of
//     limiters that did not probe may have raised B.
//   - yield: the downstream refuses more than 4% of the work, or so much work ends too late: it ran
//     out of time, or its caller has left. The limit goes to the work that the downstream served at
//     a time, or down by half of the late share. If cuts do not lower the share, load is not its
//     cause. The limit returns, and 4% counts from this share on, until a probe finds a lower
//     share.
//   - stays: long work holds the slots, and the work beside it is as quick as ever. The limit rises
//     if it was reached. While many windows are of this kind, no tick starts a probe, and no
//     latency lowers the limit.
//   - unused: the limit was not reached. It stays, unless it is far above the peak.
//   - hold: R is far above G, and lowering the limit did not help. So the work became slower, and
//     the limit stays until the next tick.
//   - steer: the target is multiplied by the square root of G/R, or by up to 2 if R is below
//     1.3 B. Then sqrt(target)/4 is added, which makes the shares of replicas equal.
//
// After a yield the limit has a ceiling. From window to window the ceiling rises by one slot, then
// by two and so on; after late work, only while there is hardly a queue. A window with refused work
// takes 0.8 of that work off the ceiling, and 3% of the ceiling. Meanwhile the slot of refused work
// rests for B ([Plan].Rest), so that the refused share is the share of slots that are too many.
// Below 20 slots, windows and rests are longer in proportion.
//
// A limiter starts with four slots, unless its configuration gives another number, and doubles them
// from window to window until the latency rises or the limit is not reached: a thrashing server
// gives no answers to learn from. Work of a quarter of a second and more is probed before this
// climb. Work of a second and more first goes up to 20 slots, or to the number that the
// configuration gives, and bursts on an idle server start there. Rare work starts there too, and
// its windows become twice as long at each idle time. Work of more than a second that begins
// together ends together, so each window of its climb waits for as much work as fills the limit
// once. If R is above 4 n B in the first window that reaches the limit, no queue explains it. The
// limit stays for a window, and if R is above 8 n B there, B is the latency of quicker work, and R
// takes its place. Limiters that learn together keep the B that they share.
//
// # When it fails
//
//   - A deadline near the no-load latency that the work does not carry: the law cannot know that a
//     little queue is too much. Set Budget.
//   - A server whose latency rises long before its throughput stops rising: the law keeps 80 to 90%
//     of the throughput.
//   - Work of which a few in a hundred take a thousand times as long as the rest: the law keeps 85
//     to 89% of the throughput.
//   - A few requests in flight at a few a second: a probe takes seconds, and a change minutes.
//   - Long work that all takes equally long: a fresh limiter takes about ten latencies to find B,
//     and then one latency for each doubling. Set [github.com/weir-go/weir.Config].Initial.
//   - Quick calls, and then bursts of calls that take 3 to 40 times as long, or that end within a few
//     of their latencies: the limit may stay at a few slots. Set
//     [github.com/weir-go/weir.Config].Initial.
//   - Replicas of a downstream that serves a few of their calls at a time: a cut by one of them hardly
//     lowers the refused share, so that they may take load for a quota.
//   - A limiter that starts within an overload of other limiters: it takes their queue for the no-load
//     latency. If its limit is not reached after that, it probes no more, and the queue may stay.
//   - No wall clock: limiters of one server do not probe at the same time, and each measures its
//     own share of the queue.
//
// docs/control.md has the figures.
//
// # Cost
//
// 120 bytes, and 320 more once the limit was reached. BenchmarkSetpoint measures a decision.
//
// # Sources
//
// J. Little: A Proof for the Queuing Formula L = λW, 1961. V. Jacobson: Congestion Avoidance
// and Control, 1988, for the start. N. Cardwell and others: BBR, 2016, for probes of the
// latency without load. D. Chiu and R. Jain, 1989, for a rise that makes shares equal.
// M. Alizadeh and others: DCTCP, 2010, for cuts by the share of marks. The common ticks, and the
// elasticity of the latency in a probe, are our own.
type Setpoint struct {
	// Budget is how long work may take from its start, not counting a wait in the limiter's
	// queue. 0 means to use only the deadlines of the work.
	Budget time.Duration

	// Without names a move that the law must not make, to measure the worth of the move. It is
	// empty in production.
	Without string
}

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (l Setpoint) Controller(b Bounds) (Controller, error) {
	return started(l, func(l Setpoint) Controller {
		usual := usualLimit
		if b.Initial != startLimit {
			usual = b.Initial
		}
		start := afresh
		start.MaxAge = firstAge
		return &setpointController{Setpoint: l, planned: start, usual: float32(usual)}
	})
}

// String returns "setpoint" or, for example, "setpoint(budget=300ms)". [Parse] reads both.
func (l Setpoint) String() string { return l.form().String() }

func (l *Setpoint) form() form {
	return form{name: "setpoint", bare: true, settings: []setting{
		{"budget", number[time.Duration]{field: &l.Budget, unset: "none"}},
		{"without", choice[string]{&l.Without, words("climb", "burst", "fail", "yield", "tick", "look", "stays", "hold")}},
	}}
}
