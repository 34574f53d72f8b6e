package admit

import (
	"time"

	"github.com/weir-go/weir/internal/window"
)

// Acquire admits work of the given weight, and makes t its ticket, or says why
// not. MustWait means that the work has to queue: the caller then calls Join
// with a waiter.
func (n *Node) Acquire(t *Ticket, weight int, now int64, fx *Effects) Verdict {
	return n.acquire(t, 0, weight, now, true, fx)
}

// AcquireFor is Acquire for work of a tenant, of which it takes the hash.
func (n *Node) AcquireFor(t *Ticket, tenant uint16, weight int, now int64, fx *Effects) Verdict {
	return n.acquire(t, tenant, weight, now, true, fx)
}

// TryAcquire is Acquire for work that will not wait.
func (n *Node) TryAcquire(t *Ticket, weight int, now int64, fx *Effects) Verdict {
	return n.acquire(t, 0, weight, now, false, fx)
}

func (n *Node) acquire(t *Ticket, tenant uint16, weight int, now int64, patient bool, fx *Effects) Verdict {
	n.lock()
	now = n.advance(now, fx)
	if n.flags == 0 && n.inflight+int64(weight) <= int64(n.limit) &&
		(n.member == nil || n.member.group.line.empty() && n.member.hasRoom(int64(weight))) {
		n.start(t, weight, now)
		n.unlock()
		return Admitted
	}
	verdict := n.acquireSlow(t, tenant, weight, now, patient, fx)
	n.unlock()
	return verdict
}

func (n *Node) acquireSlow(t *Ticket, tenant uint16, weight int, now int64, patient bool, fx *Effects) Verdict {
	if n.flags&(shadow|closed) == shadow {
		n.acquireInShadow(t, tenant, weight, now, patient, fx)
		return Admitted
	}
	verdict := Overload
	if !n.sheds(weight) {
		verdict = n.consider(weight, patient, now, fx)
	}
	switch {
	case verdict == Admitted:
		n.startFor(t, tenant, weight, now)
		if n.member != nil {
			n.member.group.serve(now, fx) // with one more at work others may be first
		}
	case verdict.Refused():
		fx.RetryAfter = n.refuse(verdict, weight)
		fx.Seq = n.nextEvent()
	}
	return verdict
}

// consider answers for work that arrives now, behind those who still wait.
func (n *Node) consider(weight int, patient bool, now int64, fx *Effects) Verdict {
	if n.flags&waiting != 0 && (n.full() || n.inflight < int64(n.limit)) {
		n.expire(now, fx)
		n.serve(now, fx)
	} else if n.member != nil && n.member.isHeldBack(int64(weight)) {
		n.member.group.serve(now, fx)
	}
	switch {
	case n.flags&closed != 0:
		return Closed
	case n.tooHeavy(weight):
		return TooHeavy
	case n.flags&waiting == 0 && n.fits(weight):
		return Admitted
	case !patient, n.conf.queueSize == 0 && !n.conf.adaptive:
		return LimitReached
	}
	return MustWait
}

// full reports whether somebody has to give way for one more; the adaptive discipline
// decides that for itself.
func (n *Node) full() bool { return !n.conf.adaptive && n.queued() >= int(n.conf.queueSize) }

// tooHeavy reports whether work of the given weight has no room even alone.
func (n *Node) tooHeavy(weight int) bool {
	return weight > int(n.limit) || n.member != nil && int64(weight) > n.member.most()
}

// fits reports whether work of the given weight has room.
func (n *Node) fits(weight int) bool {
	return n.admits(weight) && (n.member == nil || n.member.mayStart(int64(weight)))
}

// admits reports whether the node's own limit and pace have room for work of the given weight.
func (n *Node) admits(weight int) bool {
	return n.inflight+int64(weight) <= int64(n.limit) && n.onPace()
}

// saturated reports whether the limit, the group or the pace holds work back.
func (n *Node) saturated() bool { return n.inflight >= int64(n.limit) || n.flags&waiting != 0 }

// startFor starts work of a tenant.
func (n *Node) startFor(t *Ticket, tenant uint16, weight int, now int64) {
	n.register(t, tenant, weight, now)
	n.take(weight, now)
}

// register makes t the ticket of work that starts.
func (n *Node) register(t *Ticket, tenant uint16, weight int, now int64) {
	*t = Ticket{start: now, weight: int32(weight), mark: mark{is: out}}
	n.admitted++
	if tenants := n.tenants(); tenants != nil {
		tenants.start(t, tenant)
	}
}

func (n *Node) start(t *Ticket, weight int, now int64) {
	*t = Ticket{start: now, weight: int32(weight), mark: mark{is: out}}
	n.admitted++
	n.take(weight, now)
}

// take takes slots, and of the pace what is due.
func (n *Node) take(weight int, now int64) {
	if n.flags&paced != 0 {
		n.owe(weight)
	}
	if n.member == nil {
		n.inflight += int64(weight)
	} else {
		n.member.start(int64(weight))
	}
	if n.meter == nil {
		n.meter = n.newMeter(now)
	}
	n.meter.Start(now, int(n.inflight))
}

// newMeter returns a meter of work that really runs.
func (n *Node) newMeter(now int64) *window.Meter {
	m := window.New(now, time.Duration(n.conf.lookback))
	m.Accumulate(n.conf.cumulative, 0)
	return m
}
