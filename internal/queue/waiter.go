package queue

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/reply"
)

// A Waker is notified, outside all locks, about its waiter.
type Waker interface {
	// Wake is called when the waiter was answered.
	Wake()
	// Recheck is called when the waiter may start sooner than its Patience: the owner must look
	// again. Only a pace or a rest causes this call.
	Recheck()
}

// A Waiter is a request that may have to queue. Its owner fills the fields above the line, passes
// it to the node, and must not touch the waiter until it was woken or has left.
type Waiter struct {
	Owner    Waker
	Weight   int
	Lane     int    // 0 is served first
	Deadline int64  // when the work must have finished; 0 if it has no deadline
	Tenant   uint16 // the hash of its tenant

	// The node and the queue set these fields, which include the answer. Their order is the order
	// in which a hand-off needs them.
	Verdict    reply.Verdict
	RecheckDue bool // its owner was notified to look again, and has not yet looked
	joined     int64
	patience   int64 // how long the waiter may wait
	expires    int64 // when its time in the queue is up
	links      [kinds]link
	Ticket     reply.Ticket // if the verdict is Admitted,
	Queued     int64        // and how long it waited
	RecheckAt  int64        // when its owner must look again
	Told       int64        // the RecheckAt that the owner knows

	latest     int64  // the latest time to start, under the adaptive order
	position   int    // in the heap of an order
	RetryAfter int64  // after a refusal, in nanoseconds
	Seq        uint64 // the number of the refusal among the node's events
}

// noDeadline is the deadline of work without one.
const noDeadline = math.MaxInt64

// HasDeadline reports whether the work of a waiter that has joined has a deadline.
func (w *Waiter) HasDeadline() bool { return w.Deadline != noDeadline }

// Arrive notes when the waiter came.
func (w *Waiter) Arrive(now int64) { w.joined = now }

// Waited returns how long the waiter has waited.
func (w *Waiter) Waited(now int64) int64 { return now - w.joined }

// Expires returns when the waiter's time in the queue is up.
func (w *Waiter) Expires() int64 { return w.expires }

// Expiry returns the verdict for a waiter whose time is up.
func (w *Waiter) Expiry() reply.Verdict {
	if w.Deadline != noDeadline && w.latest < w.expires {
		return reply.Deadline
	}
	return reply.QueueTimeout
}

// Patience returns how long after the given time the waiter's owner must look again if it was
// not woken.
func (w *Waiter) Patience(now int64) time.Duration { return time.Duration(w.Told - now) }

// Recheck does nothing, for owners whose nodes have neither a pace nor a rest.
func (*Waiter) Recheck() {}
