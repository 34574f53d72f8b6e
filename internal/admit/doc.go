// Package admit is the admission core: the state machine that decides which
// work starts, which waits and which is refused, and that lets a control law
// move the limit. It is told the time and never reads a clock, starts a
// goroutine or blocks, so the live limiter and the simulator drive the same
// code.
//
// # A node
//
// A [Node] holds one limit. Work of weight w starts if w more slots fit below
// the limit and nothing waits; otherwise it joins the queue or is refused. When
// work ends, the slot goes straight to the waiter whose turn it is: between the
// two there is no moment at which a newcomer could take it, and a waiter is
// answered exactly once.
//
// # A group
//
// Nodes may share a [Group], a cap C on the work in flight of all of them, which is
// checked in the same critical section. With x in flight and r reserved in a node,
// max(x, r) is out of reach for the others; work starts if the sum of that stays
// within C. So a reserve is never lent, and the rest of C, R = C - sum of r, is lent
// to whoever asks. A node with the share s is entitled to e = r + R*s/S, S being the
// sum of the shares of those that run or wait. A slot that comes free goes to the
// least (x-r+1)/s among those with x+1 <= e, then to the least max(0, x-r)/s, and
// among equals in turn by share. Decision 0007 has the reasons.
//
// # The queue
//
// Waiters stand in lanes, and the highest lane that has any is served. Yet of twenty
// turns one goes to a lower lane: of those that wait, to the one that has gone longest
// without. A queue that is too long gives up the lowest lane first. Within a lane, if
// tenants are told apart, the one that runs least is served and the one that has most
// gives way; see decision 0008. Among the rest a discipline picks who is next: first
// in, first out, or the adaptive one, which is the result of the measurements
// recorded in decision 0004: earliest deadline first, newest first once the queue
// stands, no longer than four limits or than what can drain in time, oldest out first.
//
// Work with a deadline is refused as soon as it cannot be met: on arrival, when
// draining what is ahead of it takes too long, and again when its turn comes.
// The service time S that this reckons with is a high quantile of the recent
// latency, but at most half the time the work was given: were S to grow beyond
// all deadlines, everything would be refused, nothing measured, and S never
// corrected.
//
// The drain rate X is completions per second of saturated time, time in which
// the limit held work back. With c and t the completions and the saturated
// seconds so far, each faded by 1-1/K at every completion, X = c/t, K being the
// limit within 16 to 128. Little's law gives the wait at position n as n/X. Both age by the
// time in which nothing is held back: a look-back of that or, if that is longer, as much as
// t leaves X unknown.
//
// # The pace
//
// A node may have a [Pace] besides its limit, for which see decision 0009. Time in which
// the pace alone holds work back is not saturated time, and the law hears nothing of it.
//
// # The law
//
// A window closes on the first call after it is due; no timer is involved. The
// law's decision is applied at once, work that started under the old limit does
// not judge the new one, and the change enters the history with its reason.
package admit
