package admit

import (
	"time"

	"github.com/weir-go/weir/law"
)

// begin applies the first decision of a new controller.
func (n *Node) begin(now int64, d law.Decision) {
	n.slots.limit = int32(n.conf.bounds(n.slots.limit).Clamp(d.Limit, int(n.slots.limit)))
	n.decide(d.Reason)
	n.slots.lookBack(n.plan(now, d.Next, 0, &n.conf, n.slots.lookback))
	n.slots.planRest(d.Next.Rest)
}

// decide keeps the reason of a decision.
func (n *Node) decide(why law.Reason) {
	n.decided = newReason(why)
	n.slots.flags.set(alone, why.Code != law.Pinned)
}

// advance moves the node's time on, and closes the window if the window is due.
func (n *Node) advance(now int64, fx *Effects) int64 {
	if n.slots.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if now >= n.due {
		n.closeWindow(now, fx)
	}
	return now
}

// closeWindow lets the law decide if the window that is due has the samples for it.
func (n *Node) closeWindow(now int64, fx *Effects) {
	if n.slots.meter == nil { // nothing ran yet: the first window begins now
		n.begin(now, first(n.control, n.conf.bounds(n.slots.limit), fx))
		return
	}
	if !n.ready(n.slots.meter, now) {
		return
	}
	w := n.slots.meter.Window(now, int(n.slots.measuring()))
	w.Min, w.Max = int(n.conf.min), int(n.conf.max)
	w.Limit = max(int(n.slots.limit)-n.decided.beside(n.slots.held()), w.Min)
	w.MinSamples = int(n.minSamples)
	if n.conf.wall != nil {
		w.Closed = n.conf.wall()
	}
	w.Deadline, w.RetryAfter = n.slots.contention.deadline(), time.Duration(n.slots.contention.awayFor(now))
	from := n.slots.found(n.decided)
	d := ask(n.control, w, fx)
	n.decide(d.Reason)
	n.slots.contention.expect(d.Next.MinDeadline)
	n.slots.planRest(d.Next.Rest)
	found := int32(n.conf.bounds(n.slots.limit).Clamp(d.Limit, w.Limit))
	limit, _ := n.slots.above(found, n.decided, n.conf.max)
	changed := limit != n.slots.limit
	settle := int64(0)
	if changed {
		settle = span(d.Next.Settle)
	}
	n.slots.lookBack(n.plan(now, d.Next, settle, &n.conf, n.slots.lookback))
	if changed {
		n.slots.setFound(found, n.decided, n.conf.max)
		n.change(now, from, d.Reason, fx)
		n.serve(now, fx)
	}
	if changed || n.maxSamples > 0 {
		n.slots.meter.Restart(now, time.Duration(settle))
	}
}

// change records a move of the law's limit and its reason.
func (n *Node) change(now int64, from int32, why law.Reason, fx *Effects) {
	next := n.slots.found(n.decided)
	if n.slots.flags&shadow != 0 {
		n.slots.contention.cold.virtual.ForgetCredit()
	}
	n.history.add(now, int(from), int(next), why)
	if n.events.observed {
		fx.Notable = true
		fx.Change = &Change{At: now, From: int(from), To: int(next), Reason: why, Seq: n.events.next()}
	}
}

// Learned returns the law's knowledge, from which another node may start.
func (n *Node) Learned() law.Knowledge {
	n.slots.lock()
	defer n.slots.unlock()
	return law.Learned(n.control, int(n.slots.found(n.decided)))
}
