package admit

import (
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
)

// Effects lists the actions for the caller to take after a call, without the lock.
type Effects struct {
	Woken       queue.Woken
	Change      *Change       // a change of the limit, if the node is observed
	RetryAfter  int64         // with a refusal: the delay of a retry, in nanoseconds
	Seq         uint64        // the number of the refusal
	Panic       error         // the law panicked; the limit was held
	Notable     bool          // one of the following, Change or Panic is set
	Replaced    bool          // Change came with a law that starts afresh
	Heard       bool          // an outcome was counted, unlike at the end of measured work
	WouldRefuse reply.Verdict // the verdict of a shadow node if it is not Admitted
	Lapsed      []Lapse       // on a shadow node, waiting work that would have been refused
}

// A Lapse is the refusal of work that would have waited.
type Lapse struct {
	Why reply.Verdict
	Seq uint64 // the number of the refusal
}

// None reports whether the caller has no waiter to wake and no other action to take.
func (fx *Effects) None() bool { return fx.Woken.None() && !fx.Notable }

// events numbers the events of a node.
type events struct {
	last     uint64
	observed bool // Settings.Observed
}

// next returns the number of an event, 0 if nothing observes the events.
func (e *events) next() uint64 {
	if !e.observed {
		return 0
	}
	e.last++
	return e.last
}
