package admit

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/virtual"
	"github.com/weir-go/weir/internal/window"
)

// virtual returns the virtual work of a node in shadow mode.
func (s *slots) virtual() *virtual.Work { return s.contention.cold.virtual }

// setShadow begins or ends shadow mode.
func (n *Node) setShadow(on bool, now int64, fx *Effects) {
	switch was := n.flags&shadow != 0; {
	case on && !was:
		n.admitAll(now, fx)
		n.beginShadow(now, n.conf.reach(n.decided, n.limit))
	case was && !on:
		n.endShadow(now, n.conf.reach(n.decided, n.limit))
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
	v := s.virtual()
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
	if !n.sheds(w.Weight) {
		would = n.arrive(int32(w.Weight), now)
	}
	if would == reply.MustWait {
		most, patience := 0, int64(0)
		if !w.NoWait {
			most, patience = n.conf.order.Size(int(n.conf.queueSize)), n.conf.queueTimeout
		}
		would = n.enqueueVirtual(int32(w.Weight), now, most, patience)
	}
	if would.Refused() {
		n.hear(would, w.Weight)
		n.contention.cold.wouldRefuse++
		fx.Notable, fx.WouldRefuse, fx.Seq = true, would, n.events.next()
	}
	n.virtual().Start(w.Weight, now)
	r := n.register(w.Tenant, w.Weight, now)
	if would == reply.Admitted {
		r.Marks |= reply.Virtually
	}
	if n.member != nil {
		n.member.count()
		n.member.group.serve(now, fx)
	}
	return r.Ticket()
}

// arrive decides on virtual work that arrives.
func (s *slots) arrive(weight int32, now int64) reply.Verdict {
	switch {
	case s.tooHeavy(int(weight)):
		return reply.TooHeavy
	case s.virtual().Waiting.Len() > 0 || !s.fits(int(weight)):
		return reply.MustWait
	}
	s.startVirtual(weight, now)
	return reply.Admitted
}

// enqueueVirtual queues virtual work within the bounds on number and time, or returns the
// reason why not.
func (s *slots) enqueueVirtual(weight int32, now int64, most int, patience int64) reply.Verdict {
	v := s.virtual()
	switch {
	case most == 0 && s.awaitsPace():
		return reply.Paced
	case most == 0:
		return reply.LimitReached
	case s.tokens().Delay(int(v.Queued)) >= patience:
		return reply.Paced
	case v.Waiting.Len() >= most:
		return reply.QueueFull
	}
	v.Enqueue(now, weight)
	return reply.Waiting
}

func (s *slots) startVirtual(weight int32, now int64) {
	s.virtual().Active.Push(now, weight)
	s.take(int(weight), now)
}

// endInShadow books the end of real work, and of virtual work with it.
func (s *slots) endInShadow(r *reply.Record, now int64, outcome window.Outcome, limit reach) {
	v := s.virtual()
	v.End(r, now, outcome)
	if r.Has(reply.Measured) {
		s.letGo(r, limit)
	} else {
		s.learnInShadow(r, now, outcome)
	}
	if s.member != nil {
		s.member.count()
	}
}

// measureInShadow books the outcome of real work that still runs, and of its virtual work,
// which keeps its slots and ends in place of no other work.
func (s *slots) measureInShadow(r *reply.Record, now int64, outcome window.Outcome, limit reach) {
	v := s.virtual()
	v.Measure(r, now, outcome)
	own := v.Own(r)
	if own == nil {
		s.learnInShadow(r, now, outcome)
		r.Marks &^= reply.Virtually
		return
	}
	v.Learn(r, now, outcome)
	s.meter.Ended(own.Since, now, own.Weight, outcome)
	s.free(int64(own.Left - r.Weight))
	s.hold(int64(r.Weight), limit)
	v.Active.Remove(own)
}

// letGo frees the slots of virtual work. They may be fewer than those of the real work, which
// may have been measured before shadow mode began.
func (s *slots) letGo(r *reply.Record, limit reach) {
	if r.Has(reply.Virtually) {
		held := min(int64(r.Weight), s.held())
		s.hold(-held, limit)
		s.free(held)
	}
}

// learnInShadow ends the virtual work of real work with a known outcome.
func (s *slots) learnInShadow(r *reply.Record, now int64, outcome window.Outcome) {
	v := s.virtual()
	switch own := v.Own(r); {
	case own != nil:
		s.endVirtual(own, own.Left, now, outcome)
	case outcome == window.Success, outcome == window.Failure: // the server did it
		v.InPlace(r.Weight, now, func(p *virtual.Piece, part int32) { s.endVirtual(p, part, now, outcome) })
	}
	v.Learn(r, now, outcome)
}

// endVirtual ends a part of a piece, and with the last part the piece.
func (s *slots) endVirtual(p *virtual.Piece, part int32, now int64, outcome window.Outcome) {
	v := s.virtual()
	v.Charge(part, s.limit)
	last := part == p.Left
	if last && s.saturated() && !s.awaitsPace() {
		s.contended().completed(s.limit)
	}
	s.free(int64(part))
	p.Left -= part
	if last {
		s.meter.Ended(p.Since, now, p.Weight, outcome)
		v.Active.Remove(p)
	}
}

// serveVirtual starts waiting virtual work that now has room.
func (n *Node) serveVirtual(now int64, fx *Effects) {
	v := n.virtual()
	for p := v.Waiting.Oldest(); p != nil; p = v.Waiting.Oldest() {
		weight := p.Weight
		switch {
		case n.tooHeavy(int(weight)):
			n.lapse(reply.TooHeavy, fx)
			continue
		case !n.fits(int(weight)):
			return
		}
		waited := now - p.Since
		v.Dequeue(p)
		n.startVirtual(weight, now)
		if waited > 0 {
			n.bookWait(waited)
		}
	}
}

// lapse refuses the virtual work that has waited longest.
func (n *Node) lapse(why reply.Verdict, fx *Effects) {
	p := n.virtual().Waiting.Oldest()
	n.hear(why, int(p.Weight))
	n.virtual().Dequeue(p)
	n.contention.cold.wouldRefuse++
	if seq := n.events.next(); fx.Lapsed == 0 {
		fx.LapsedSeq = seq
	}
	fx.Notable = true
	fx.Lapsed++
}

// catchUp lets virtual work start, end and time out, each at its time, until now.
func (n *Node) catchUp(now int64, fx *Effects) {
	v := n.virtual()
	for {
		const never = math.MaxInt64
		ends, lapses, starts := v.Ends(n.inflight), int64(never), int64(never)
		if p := v.Waiting.Oldest(); p != nil {
			lapses = p.Since + n.conf.queueTimeout
			if n.awaitsPace() {
				starts = n.last + n.tokens().Delay(0)
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
			n.endVirtual(p, p.Left, n.last, window.Success)
		case lapses:
			n.lapse(reply.QueueTimeout, fx)
		}
		n.serve(n.last, fx)
	}
}
