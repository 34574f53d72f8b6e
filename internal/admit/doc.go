// Package admit is the admission core: the state machine that decides which work starts,
// which waits and which is refused, and that lets a control law move the limit. The caller
// passes in the time. The package never reads a clock, starts a goroutine or blocks, so the
// live limiter and the simulator drive the same code.
//
// # A node
//
// A [Node] holds one limit. Work of weight w starts if w more slots fit below the limit and no work
// waits. Otherwise the work joins the queue or is refused. When work ends, the slot goes straight
// to the next waiter, so that no newcomer can take it in between. A waiter is answered exactly
// once.
//
// # A group
//
// Nodes may share a [Group], a cap C on the work in flight of all its nodes, checked in the same
// critical section. With x in flight and r reserved in a node, the other nodes cannot have max(x,
// r) slots. Work starts if the sum of max(x, r) over the nodes stays within C. So a reserve is
// never lent, and the rest of C, R = C - sum of r, is lent to any node that asks. A node with the
// share s is entitled to e = r + R*s/S, where S is the sum of the shares of the nodes with running
// or waiting work. A free slot goes to the least (x-r+1)/s among the nodes with x+1 <= e, then to
// the least max(0, x-r)/s. Equal nodes take turns by share. Decision 0007 has the reasons.
//
// # The parts
//
// A node consists of parts that do not know each other: slots (the resources that work takes,
// and their measurements), loop (when to call the law, and with which window), history, the
// queue of package queue and the virtual work of package virtual. Node joins them:
// acquire.go, wait.go and done.go are the ways in and out, serve.go hands on free slots,
// law.go moves the limit. Group, member and shareQueue share slots out among nodes. A rule in
// internal/rules bounds the number of methods of Node, and of pairs of files that know each
// other (decision 0017).
//
// # The queue
//
// The queue decides which waiters may stay, which waiter is next and which waiters must leave; see
// [queue.Queue]. The node passes it a [queue.View], counts the waiters it evicts, and notifies
// their owners.
//
// The drain rate X in the view is completions per second of saturated time, time in which the limit
// held work back. With c and t the completions and the saturated seconds so far, each faded by
// 1-1/K at every completion, X = c/t, where K is the limit within 16 to 128. Both c and t fade with
// the time in which the limit holds no work back: after a look-back of such time, or after t if t
// is longer, X is unknown.
//
// # The pace
//
// A node may have a [Pace] besides its limit; see decision 0009. Time in which the pace alone
// holds work back is not saturated time, and the law does not see it.
//
// # Shadow mode
//
// A node in shadow mode admits all work. Beside the real work it keeps virtual work: the work that
// a live node would have admitted. The law and the group see the virtual work; see package virtual.
//
// # The law
//
// A window closes on the first call after it is due; no timer is involved. The
// law's decision is applied at once, work that started under the old limit does
// not judge the new one, and the change enters the history with its reason.
package admit
