package admit

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/virtual"
	"github.com/weir-go/weir/internal/window"
)

// A double is the virtual work of a node in shadow mode, and the slots that it takes.
type double struct {
	*virtual.Work
	slots *slots
}

func (s *slots) double() double { return double{s.contention.cold.virtual, s} }

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

// admitAll admits the waiters, unless their time is up.
func (n *Node) admitAll(now int64, fx *Effects) {
	for n.queue.Len() > 0 {
		switch w := n.queue.Oldest(); {
		case now >= w.Expires():
			n.reject(w, w.Expiry(), fx)
		case w.HasDeadline() && !n.queue.InTime(w, n.view(now)):
			n.reject(w, reply.Deadline, fx)
		default:
			n.dispatch(w, now, fx)
		}
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

// endShadow makes the real work count again. Work above the limit does not judge it.
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
	would := reply.Overload
	if !n.slots.pace().sheds(w.Weight) {
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
	n.slots.double().Start(w.Weight, now)
	r := n.register(w.Tenant, w.Weight, now)
	if would == reply.Admitted {
		r.Marks |= reply.Virtually
	}
	if n.slots.member != nil {
		n.slots.member.count()
		n.slots.member.group.serve(now, fx)
	}
	return r.Ticket()
}

// arrive decides on virtual work that arrives.
func (v double) arrive(weight int32, now int64) reply.Verdict {
	switch {
	case v.slots.tooHeavy(int(weight)):
		return reply.TooHeavy
	case v.Waiting.Len() > 0 || !v.slots.fits(int(weight)):
		return reply.MustWait
	}
	v.begin(weight, now)
	return reply.Admitted
}

// enqueue queues virtual work within the bounds on number and time, or returns the
// reason why not.
func (v double) enqueue(weight int32, now int64, most int, patience int64) reply.Verdict {
	switch {
	case most == 0 && v.slots.awaitsPace():
		return reply.Paced
	case most == 0:
		return reply.LimitReached
	case v.slots.pace().bucket().Delay(int(v.Queued)) >= patience:
		return reply.Paced
	case v.Waiting.Len() >= most:
		return reply.QueueFull
	}
	v.Enqueue(now, weight)
	return reply.Waiting
}

func (v double) begin(weight int32, now int64) {
	v.Active.Push(now, weight)
	v.slots.take(int(weight), now)
}

// end books the end of real work, and of virtual work with it.
func (v double) end(r *reply.Record, now int64, outcome window.Outcome, limit reach) {
	v.End(r, now, outcome)
	if r.Has(reply.Measured) {
		v.letGo(r, limit)
	} else {
		v.learn(r, now, outcome)
	}
	if v.slots.member != nil {
		v.slots.member.count()
	}
}

// measure books the outcome of real work that still runs, and of its virtual work,
// which keeps its slots and ends in place of no other work.
func (v double) measure(r *reply.Record, now int64, outcome window.Outcome, limit reach) {
	v.Measure(r, now, outcome)
	own := v.Own(r)
	if own == nil {
		v.learn(r, now, outcome)
		r.Marks &^= reply.Virtually
		return
	}
	v.Learn(r, now, outcome)
	v.slots.meter.Done(own.Since, now, int(own.Weight), outcome)
	v.slots.free(int64(own.Left - r.Weight))
	v.slots.hold(int64(r.Weight), limit)
	v.Active.Remove(own)
}

// reweigh changes the weight of real work. It returns the change of its virtual work,
// part of which may have ended.
func (v double) reweigh(r *reply.Record, more int64) int64 {
	v.Reweigh(r, more)
	if r.Has(reply.Measured) {
		if r.Has(reply.Virtually) {
			return max(more, -v.slots.held())
		}
		return 0
	}
	own := v.Own(r)
	if own == nil {
		return 0
	}
	taken := max(more, 1-int64(own.Left))
	own.Left += int32(taken)
	own.Weight = max(own.Weight+int32(more), own.Left)
	return taken
}

// letGo frees the slots of virtual work. They may be fewer than those of the real work, which
// may have been measured before shadow mode began.
func (v double) letGo(r *reply.Record, limit reach) {
	if r.Has(reply.Virtually) {
		held := min(int64(r.Weight), v.slots.held())
		v.slots.hold(-held, limit)
		v.slots.free(held)
	}
}

// learn ends the virtual work of real work with a known outcome.
func (v double) learn(r *reply.Record, now int64, outcome window.Outcome) {
	switch own := v.Own(r); {
	case own != nil:
		v.finish(own, own.Left, now, outcome)
	case outcome == window.Success, outcome == window.Failure: // the server did it
		v.InPlace(r.Weight, now, func(p *virtual.Piece, part int32) { v.finish(p, part, now, outcome) })
	}
	v.Learn(r, now, outcome)
}

// finish ends a part of a piece, and with the last part the piece.
func (v double) finish(p *virtual.Piece, part int32, now int64, outcome window.Outcome) {
	v.Charge(part, v.slots.limit)
	last := part == p.Left
	if last && v.slots.saturated() && !v.slots.awaitsPace() {
		v.slots.contended().completed(v.slots.limit)
	}
	v.slots.free(int64(part))
	p.Left -= part
	if last {
		v.slots.meter.Done(p.Since, now, int(p.Weight), outcome)
		v.Active.Remove(p)
	}
}

// serveVirtual starts waiting virtual work that now has room.
func (n *Node) serveVirtual(now int64, fx *Effects) {
	v := n.slots.double()
	for p := v.Waiting.Oldest(); p != nil; p = v.Waiting.Oldest() {
		weight := p.Weight
		switch {
		case n.slots.tooHeavy(int(weight)):
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
	if seq := n.events.next(); fx.Lapsed == 0 {
		fx.LapsedSeq = seq
	}
	fx.Notable = true
	fx.Lapsed++
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
