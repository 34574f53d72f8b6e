package admit

import (
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

// arrive decides on virtual work that arrives.
func (v double) arrive(weight int32, now int64) reply.Verdict {
	if v.Waiting.Len() > 0 || !v.slots.fits(int(weight)) {
		return reply.MustWait
	}
	v.begin(weight, now)
	return reply.Admitted
}

// enqueue queues virtual work within the bounds on number and time, or returns the reason why the
// work may not wait.
func (v double) enqueue(weight int32, now int64, most int, patience int64) reply.Verdict {
	switch {
	case most == 0 && v.slots.awaitsPace():
		return reply.Paced
	case most == 0:
		return reply.LimitReached
	case v.slots.pace().bucket().Delay(v.Queued) >= patience:
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

// start books the start of real work.
func (v double) start(weight int, now int64) {
	v.real(func() { v.Start(weight, now) })
}

// real makes a change of the real work, which bounds the slots that virtual work takes of a group.
func (v double) real(change func()) {
	m := v.slots.member
	if m == nil {
		change()
		return
	}
	before := m.taken()
	change()
	m.moved(before)
}

// end books the end of real work, and of virtual work with it.
func (v double) end(r *reply.Record, now int64, outcome window.Outcome, limit reach) {
	v.real(func() { v.End(r, now, outcome) })
	if r.Has(reply.Measured) {
		v.letGo(r, limit)
	} else {
		v.learn(r, now, outcome)
	}
}

// measure books the outcome of real work that still runs, and of its virtual work. The virtual work
// keeps its slots, and the real work will end in place of no other virtual work.
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
	v.real(func() { v.Reweigh(r, more) })
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

// letGo frees the slots of virtual work. They may be fewer than the slots of the real work, which
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
	case outcome == window.Success, outcome == window.Late, outcome == window.Failure: // the server did it
		v.InPlace(r.Weight, now, func(p *virtual.Piece, part int32) { v.finish(p, part, now, outcome) })
	}
	v.Learn(r, now, outcome)
}

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
