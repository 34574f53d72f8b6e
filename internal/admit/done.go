package admit

import "github.com/weir-go/weir/internal/window"

// Done takes a ticket back. It reports whether the ticket was out; if not,
// nothing changes.
func (n *Node) Done(t *Ticket, now int64, outcome window.Outcome, fx *Effects) bool {
	n.lock()
	if t.is == back {
		n.unlock()
		return false
	}
	if n.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if n.completed == n.admitted || int64(t.weight) > n.running() {
		n.misused(t, now, fx)
		n.unlock()
		return false
	}
	if n.flags&shadow == 0 && n.saturated() && !n.awaitsPace() {
		n.pressed().completed(n.limit)
	}
	n.end(t, now, outcome)
	if now >= n.due || n.sampled() {
		n.closeWindow(now, fx)
	}
	switch {
	case n.flags != 0:
		n.serve(now, fx)
	case n.member != nil && !n.member.group.line.empty():
		n.member.offer(int64(t.weight), now, fx)
	}
	if n.inflight == 0 {
		n.rest()
	}
	n.unlock()
	return true
}

// rest has an idle node forget whose turn it was, and with it a queue that knows no more.
func (n *Node) rest() {
	switch q := n.queue; {
	case q == nil || q.length > 0:
	case q.adaptive == nil && q.extras == nil:
		n.queue = nil
	default:
		q.forgetTurns()
	}
}

// end books the end of a piece of work.
func (n *Node) end(t *Ticket, now int64, outcome window.Outcome) {
	if n.flags&shadow == 0 {
		n.free(int64(t.weight))
		measure(n.meter, t.start, now, t.weight, outcome)
	} else {
		n.endInShadow(t, now, outcome)
	}
	if t.stamp != 0 {
		n.endFor(t)
	}
	n.completed++
	if outcome != window.Success {
		n.outcomes.count(outcome)
	}
	t.is = back
}

func (n *Node) free(weight int64) {
	if n.member == nil {
		n.inflight -= weight
	} else {
		n.member.move(-weight)
	}
}

// misused deals with a ticket whose slots are free already: a copy of another
// one took them. What is left of them must not be lost.
func (n *Node) misused(t *Ticket, now int64, fx *Effects) {
	fx.Notable, fx.Misused, fx.Seq = true, true, n.nextEvent()
	left := Ticket{start: t.start, weight: int32(min(int64(t.weight), n.running()))}
	switch {
	case n.completed < n.admitted:
		n.end(&left, now, window.Ignore)
	case n.flags&shadow != 0:
		n.virtual().running -= int64(left.weight)
	default:
		n.free(int64(left.weight))
	}
	n.endFor(t)
	t.is = back
	n.serve(now, fx)
}

func (o *outcomes) count(outcome window.Outcome) {
	switch outcome {
	case window.Failure:
		o.failed++
	case window.Timeout:
		o.timedOut++
	case window.Ignore:
		o.ignored++
	}
}
