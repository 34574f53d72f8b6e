package admit

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/virtual"
	"github.com/weir-go/weir/internal/window"
)

// setShadow begins or ends shadow mode.
func (n *Node) setShadow(on bool, now int64, fx *Effects) {
	switch was := n.slots.flags&shadow != 0; {
	case on && !was:
		n.admitAll(now, fx)
		n.slots.beginShadow(now, n.conf.reach(n.decided, n.slots.limit))
	case was && !on:
		n.slots.endShadow(now, n.conf.reach(n.decided, n.slots.limit))
	}
}

// admitAll admits the waiters, apart from waiters whose time is up or whose deadline cannot be met.
func (n *Node) admitAll(now int64, fx *Effects) {
	for n.queue.Len() > 0 {
		w, verdict := n.queue.Oldest(), reply.Admitted
		switch {
		case now >= w.Expires():
			verdict = w.Expiry()
		case w.HasDeadline() && !n.queue.InTime(w, n.view(now)):
			verdict = reply.Deadline
		}
		n.answer(w, verdict, now)
		fx.Woken.Add(w)
	}
}

// beginShadow starts virtual work for all running work.
func (s *slots) beginShadow(now int64, r reach) {
	v := &virtual.Work{Running: s.inflight, Held: s.held(), Meter: s.meter}
	s.contended().coldPart().virtual = v
	s.meter = window.New(now, time.Duration(s.lookback))
	if v.Meter == nil {
		v.Meter = s.newMeter(now)
	}
	s.setHeld(0, r) // the held slots of virtual work
	v.Adopt(s.inflight, now, func() { s.meter.Start(now, int(s.inflight)) })
	s.flags.set(shadow, true)
}

// endShadow makes the real work count again. The work that already runs may exceed the limit, and
// does not judge it.
func (s *slots) endShadow(now int64, r reach) {
	v := s.double()
	s.free(s.inflight - v.Running)
	s.meter = v.Meter
	s.setHeld(v.Held, r)
	s.meter.Restart(now, 0)
	s.contention.cold.virtual = nil
	s.flags.set(shadow, false)
}

// acquireInShadow admits work and records the verdict that a live node would give.
func (n *Node) acquireInShadow(w Work, now int64, fx *Effects) reply.Ticket {
	var would reply.Verdict
	switch {
	case n.slots.staysAway(now):
		would = reply.PushedBack
	case n.tooHeavy(w.Weight):
		would = reply.TooHeavy
	default:
		would = n.slots.double().arrive(int32(w.Weight), now)
	}
	if would == reply.MustWait {
		most, patience := 0, int64(0)
		if !w.NoWait {
			most, patience = n.conf.order.Size(int(n.conf.queueSize)), n.conf.queueTimeout
		}
		would = n.slots.double().enqueue(int32(w.Weight), now, most, patience)
	}
	if would.Refused() {
		n.slots.hear(would, w.Weight)
		n.slots.contention.cold.wouldRefuse++
		fx.Notable, fx.WouldRefuse, fx.Seq = true, would, n.events.next()
	}
	n.slots.double().start(w.Weight, now)
	r := n.register(w.Tenant, w.Weight, now)
	if would == reply.Admitted {
		r.Marks |= reply.Virtually
	}
	if n.slots.member != nil {
		n.slots.member.group.serve(now, fx)
	}
	return r.Ticket()
}

// serveVirtual starts waiting virtual work that now has room.
func (n *Node) serveVirtual(now int64, fx *Effects) {
	v := n.slots.double()
	for p := v.Waiting.Oldest(); p != nil; p = v.Waiting.Oldest() {
		weight := p.Weight
		switch {
		case n.tooHeavy(int(weight)):
			n.lapse(reply.TooHeavy, fx)
			continue
		case !n.slots.fits(int(weight)):
			return
		}
		waited := now - p.Since
		v.Dequeue(p)
		n.slots.double().begin(weight, now)
		if waited > 0 {
			n.slots.bookWait(waited)
		}
	}
}

// lapse refuses the virtual work that has waited longest.
func (n *Node) lapse(why reply.Verdict, fx *Effects) {
	p := n.slots.double().Waiting.Oldest()
	n.slots.hear(why, int(p.Weight))
	n.slots.double().Dequeue(p)
	n.slots.contention.cold.wouldRefuse++
	fx.Notable = true
	fx.Lapsed = append(fx.Lapsed, Lapse{why, n.events.next()})
}

// catchUp lets virtual work start, end and time out, each at its time, until now.
func (n *Node) catchUp(now int64, fx *Effects) {
	v := n.slots.double()
	for {
		const never = math.MaxInt64
		ends, lapses, starts := v.Ends(n.slots.inflight), int64(never), int64(never)
		if p := v.Waiting.Oldest(); p != nil {
			lapses = p.Since + n.conf.queueTimeout
			if n.slots.awaitsPace() {
				starts = n.last + n.slots.pace().bucket().Delay(0)
			}
		}
		at := min(ends, lapses, starts)
		if at > now {
			return
		}
		n.flow(max(at, n.last)) // the estimates may have fallen since
		switch at {
		case ends:
			p := v.Active.Oldest()
			n.slots.double().finish(p, p.Left, n.last, window.Success)
		case lapses:
			n.lapse(reply.QueueTimeout, fx)
		}
		n.serve(n.last, fx)
	}
}
