package admit

import (
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
)

// Effects are the acts that follow a call, without the lock.
type Effects struct {
	Woken       queue.Woken
	Change      *Change       // a change of the limit, if the node is observed
	RetryAfter  int64         // with a refusal: when to come back, in nanoseconds
	Seq         uint64        // the number of the refusal
	Panic       error         // the law panicked; the limit was held
	Notable     bool          // one of the following, Change or Panic is set
	Replaced    bool          // Change came with a law that starts afresh
	Heard       bool          // an outcome was heard: not of work that was measured before
	Lapsed      int32         // how much would have been refused after it had waited, on a shadow node,
	LapsedSeq   uint64        // and the number of the first of these
	WouldRefuse reply.Verdict // the answer of a live node, if not Admitted
}

// None reports whether there is nothing to do.
func (fx *Effects) None() bool { return fx.Woken.None() && !fx.Notable }
