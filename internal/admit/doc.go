// Package admit is the admission core: the state machine that decides which
// work starts, which waits and which is refused, and that lets a control law
// move the limit. The caller passes the time; it never reads a clock, starts a
// goroutine or blocks, so the live limiter and the simulator drive the same
// code.
//
// # A node
//
// A [Node] holds one limit. Work of weight w starts if w more slots fit below
// the limit and nothing waits; otherwise it joins the queue or is refused. When
// work ends, the slot goes straight to the next waiter: between the
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
// sum of the shares of the members that run or wait work. A slot that comes free goes to the
// least (x-r+1)/s among those with x+1 <= e, then to the least max(0, x-r)/s, and
// among equals in turn by share. Decision 0007 has the reasons.
//
// # The rooms
//
// A node is put together of parts that do not know it: slots (the resources that work takes to
// start, and the measurements), loop (the windows of the law), history, the queue of package queue
// and the virtual work of package virtual. Node joins them: acquire.go, wait.go and done.go are
// the ways in and out, serve.go hands free slots on, law.go moves the limit. Group, member and
// shareQueue share slots out among nodes. A rule in internal/rules holds how many methods Node
// has, and how many pairs of files know each other (decision 0017).
//
// # The queue
//
// The queue says which waiters may stay, which is next and which have to go; see [queue.Queue]. The
// node shows it a [queue.View], counts the evicted waiters, and informs their owners.
//
// The drain rate X that the view shows is completions per second of saturated time, time in which
// the limit held work back. With c and t the completions and the saturated
// seconds so far, each faded by 1-1/K at every completion, X = c/t, K being the
// limit within 16 to 128. Both age by the
// time in which nothing is held back: a look-back of that or, if that is longer, as much as
// t leaves X unknown.
//
// # The pace
//
// A node may have a [Pace] besides its limit, for which see decision 0009. Time in which
// the pace alone holds work back is not saturated time, and the law hears nothing of it.
//
// # Shadow mode
//
// A node in shadow mode admits all, and keeps virtual work beside it: the work that it would have
// admitted. Of that the law hears, and the group; see package virtual.
//
// # The law
//
// A window closes on the first call after it is due; no timer is involved. The
// law's decision is applied at once, work that started under the old limit does
// not judge the new one, and the change enters the history with its reason.
package admit
