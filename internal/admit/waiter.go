package admit

import (
	"math"
	"time"
)

// A Ticket is the core's side of one piece of admitted work. It is out from
// admission until [Node.Done]; the zero Ticket is not out.
type Ticket struct {
	start  int64 // when it was dispatched
	waited int64 // how long it queued before that
	weight int32
	mark
}

type mark struct {
	tenant uint16 // the hash of whose work it is
	stamp  stamp  // of the shuffle by which it was counted, 0 without tenants
	is     whereabouts
}

// whereabouts are those of a ticket.
type whereabouts uint8

const (
	back         whereabouts = iota
	out                      // its work runs
	outVirtually             // and so does its virtual work, since the same moment; see shadow.go
)

// Start returns when the work was dispatched.
func (t *Ticket) Start() int64 { return t.start }

// Waited returns how long the work queued, in nanoseconds.
func (t *Ticket) Waited() int64 { return t.waited }

// A Waker is told, outside all locks, what becomes of its waiter.
type Waker interface {
	// Wake tells that the waiter was answered.
	Wake()
	// Nudge tells that the waiter's turn may come sooner than its Patience says: the
	// owner is to call [Node.Look]. A pace makes for that, and a group.
	Nudge()
}

// A Waiter is a request that may have to queue. Its owner fills the exported
// fields, hands it to [Node.Join], and must not touch it until it was woken or
// has called [Node.Leave].
type Waiter struct {
	Owner    Waker
	Weight   int
	Lane     int    // 0 is served first
	Deadline int64  // when the work must have finished; 0 if it has no deadline
	Tenant   uint16 // the hash of whose work it is

	joined   int64
	expires  int64 // when its time in the queue is up
	latest   int64 // when it must have started, under the adaptive discipline
	remind   int64 // when its owner is to look again
	heard    int64 // of that, what the owner was told
	nudged   bool  // told that it changed, and has not looked yet
	links    [kinds]link
	position int // in the tier's heap, if it is in one

	verdict    Verdict
	ticket     Ticket
	retryAfter int64
	seq        uint64
}

// noDeadline stands for the deadline of work that has none.
const noDeadline = math.MaxInt64

// Answer returns the verdict and, if it is Admitted, the ticket.
func (w *Waiter) Answer() (Verdict, Ticket) { return w.verdict, w.ticket }

// Refusal returns when to come back, in nanoseconds, and the number of the
// refusal in the order of the node's events.
func (w *Waiter) Refusal() (retryAfter int64, seq uint64) { return w.retryAfter, w.seq }

// expiry returns what it means that its time is up.
func (w *Waiter) expiry() Verdict {
	if w.Deadline != noDeadline && w.latest < w.expires {
		return Deadline
	}
	return QueueTimeout
}

// Patience returns how long after the given time the waiter's owner is to call
// [Node.Remind] if it was not woken.
func (w *Waiter) Patience(now int64) time.Duration { return time.Duration(w.heard - now) }

// Nudge does nothing, for owners whose nodes have neither a pace nor a group.
func (*Waiter) Nudge() {}

// Woken is a chain of waiters that were answered and wait to be told, and of those who
// are to look again.
type Woken struct {
	first, last *Waiter
	nudged      *nudge
}

// nudge is apart from the waiter, which may be answered, or nudged again, before it
// has heard of this one.
type nudge struct {
	w    *Waiter
	next *nudge
}

// nudge has the owner of w look again, unless it was told already.
func (w *Waiter) nudge(fx *Effects) {
	if !w.nudged {
		w.nudged = true
		fx.Woken.nudged = &nudge{w, fx.Woken.nudged}
	}
}

func (c *Woken) add(w *Waiter) {
	w.links[byLane] = link{}
	if c.last == nil {
		c.first = w
	} else {
		c.last.links[byLane].next = w
	}
	c.last = w
}

// Wake tells them all. It is called without any lock held.
func (c Woken) Wake() {
	for n := c.nudged; n != nil; n = n.next {
		n.w.Owner.Nudge()
	}
	for w := c.first; w != nil; {
		next := w.links[byLane].next // the owner may reuse w as soon as it is woken
		w.links[byLane].next = nil
		w.Owner.Wake()
		w = next
	}
}
