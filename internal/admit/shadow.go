package admit

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/window"
)

// virtual is what a node has besides in shadow mode, in which all work runs and the node finds
// out what it would have done.
//
// With each request there comes virtual work, which the node admits, queues or refuses as it
// would real work. The node's count of work in flight, its meter, its drain rate and its pace are
// those of the virtual work, so law and group see what they would see if the node were live;
// what really runs is counted here.
//
// Virtual work ends with its own real work, if it is in flight then. The end of any other real work,
// which would have been refused or started later, ends the oldest: in its place the server would have
// done what was admitted. But v in flight end no faster than without any load, v/R a second, where
// R is the latency then. So their throughput is the smaller one of v/R and of what the server really
// achieves. That is right for a server whose throughput does not fall with load; decision
// 0014 has the measurements.
type virtual struct {
	running  int64         // weight of the work that really runs
	meter    *window.Meter // of that work
	active   pieces        // in flight
	waiting  pieces        // in the queue
	queued   int64         // weight in the queue
	unloaded unloaded
	credit   float64 // weight that v/R had end, less what did
}

// Credit is bounded by so many limits. As long as all ends with its own work, it is the sum of many
// deviations from R, and what is forgiven ends work that would still run. With a debt of one limit instead of
// eight, fixed(20) would refuse 3.8 points too few of work that varies with a coefficient of 2, at 0.8 of
// what a pool can do, and now 1.8. What was not used is worth one limit: a server, too, makes up for a
// moment without work.
const mostCredit, mostDebt = 1, 8

func (n *Node) virtual() *virtual { return n.pressure.seldom.virtual }

// running is the weight of the work that really runs.
func (n *Node) running() int64 {
	if n.flags&shadow != 0 {
		return n.virtual().running
	}
	return n.inflight
}

// realMeter measures the work that really runs; nil if none ever did.
func (n *Node) realMeter() *window.Meter {
	if n.flags&shadow != 0 {
		return n.virtual().meter
	}
	return n.meter
}

// setShadow begins or ends shadow mode.
func (n *Node) setShadow(on bool, now int64, fx *Effects) {
	switch was := n.flags&shadow != 0; {
	case on && !was:
		n.beginShadow(now, fx)
	case was && !on:
		n.endShadow(now)
	}
	n.flags.set(shadow, on)
}

// beginShadow admits who waits. All that runs by now is virtual work as well, which starts now.
func (n *Node) beginShadow(now int64, fx *Effects) {
	n.admitAll(now, fx)
	v := &virtual{running: n.inflight, meter: n.meter}
	n.pressed().rare().virtual = v
	n.meter = window.New(now, time.Duration(n.conf.lookback))
	if v.meter == nil {
		v.meter = n.newMeter(now)
	}
	for left := n.inflight; left > 0; {
		weight := min(left, math.MaxInt32)
		left -= weight
		v.active.push(now, int32(weight))
		n.meter.Start(now, int(n.inflight))
	}
}

// admitAll admits who waits, unless their time is up.
func (n *Node) admitAll(now int64, fx *Effects) {
	for n.queued() > 0 {
		switch w := n.first(); {
		case now >= w.expires:
			n.reject(w, w.expiry(), fx)
		case !n.inTime(w, now):
			n.reject(w, Deadline, fx)
		default:
			n.unlink(w)
			n.took(w)
			n.dispatch(w, now)
			fx.Woken.add(w)
		}
	}
}

// endShadow has what really runs count again. What ran above the limit does not judge it.
func (n *Node) endShadow(now int64) {
	v := n.virtual()
	n.free(n.inflight - v.running)
	n.meter = v.meter
	n.meter.Restart(now, 0)
	n.pressure.seldom.virtual = nil
}

// acquireInShadow admits work, and finds out what would have become of it.
func (n *Node) acquireInShadow(t *Ticket, tenant uint16, weight int, now int64, patient bool, fx *Effects) {
	would := Overload
	if !n.sheds(weight) {
		would = n.arrive(int32(weight), patient, now)
	}
	if would.Refused() {
		n.hear(would, weight)
		n.pressed().rare().wouldRefuse++
		fx.Notable, fx.WouldRefuse, fx.Seq = true, would, n.nextEvent()
	}
	v := n.virtual()
	v.running += int64(weight)
	v.meter.Start(now, int(v.running))
	v.unloaded.start(now)
	n.register(t, tenant, weight, now)
	if would == Admitted {
		t.is = outVirtually
	}
	if n.member != nil {
		n.member.count()
		n.member.group.serve(now, fx)
	}
}

// arrive answers for virtual work that arrives.
func (n *Node) arrive(weight int32, patient bool, now int64) Verdict {
	v := n.virtual()
	switch {
	case n.tooHeavy(int(weight)):
		return TooHeavy
	case v.waiting.len() == 0 && n.fits(int(weight)):
		n.startVirtual(weight, now)
		return Admitted
	case !patient, n.room() == 0:
		return LimitReached
	case v.waiting.len() >= n.room(), n.paceDelay(int(v.queued)) >= n.patience():
		return QueueFull
	}
	v.waiting.push(now, weight)
	v.queued += int64(weight)
	return Waiting
}

func (n *Node) startVirtual(weight int32, now int64) {
	n.virtual().active.push(now, weight)
	n.take(int(weight), now)
}

// endInShadow books the end of real work, and of virtual work with it.
func (n *Node) endInShadow(t *Ticket, now int64, outcome window.Outcome) {
	v := n.virtual()
	v.running -= int64(t.weight)
	measure(v.meter, t.start, now, t.weight, outcome)
	switch own := v.ownOf(t); {
	case own != nil:
		n.endVirtual(own, own.left, now, outcome)
	case outcome == window.Success, outcome == window.Failure: // the server did it
		n.endOldest(t.weight, now, outcome)
	}
	v.unloaded.end(t.start, now, t.weight, outcome == window.Success)
	if n.member != nil {
		n.member.count()
	}
}

// ownOf returns the virtual work that started with real work, nil if there was none or it is gone.
func (v *virtual) ownOf(t *Ticket) *piece {
	if t.is != outVirtually {
		return nil
	}
	return v.active.find(t.start, t.weight)
}

// youngest is the age from which on virtual work may end in place of other work: half of the latency without
// load. Were there none, then after an overload what was left of the credit would end work that has just
// started, and gradient, which keeps the least latency, would refuse up to 38 points too much at 0.8 of what
// a pool can do. With all of the latency, fixed(55) would refuse 4 points too much at 1.2.
func (v *virtual) youngest() float64 { return 0.5 * v.unloaded.latency }

// endOldest ends so much of the oldest virtual work, as far as there is credit.
func (n *Node) endOldest(weight int32, now int64, outcome window.Outcome) {
	v := n.virtual()
	able := int32(min(float64(weight), max(0, v.credit)))
	before := now - int64(v.youngest())
	for p := v.active.oldest(); p != nil && p.since <= before && able > 0; p = v.active.oldest() {
		part := min(p.left, able)
		able -= part
		n.endVirtual(p, part, now, outcome)
	}
}

// endVirtual ends a part of a piece, and with the last part the piece.
func (n *Node) endVirtual(p *piece, part int32, now int64, outcome window.Outcome) {
	v := n.virtual()
	if v.unloaded.latency > 0 {
		v.credit = max(v.credit-float64(part), -mostDebt*float64(n.limit))
	}
	last := part == p.left
	if last && n.saturated() && !n.awaitsPace() {
		n.pressed().completed(n.limit)
	}
	n.free(int64(part))
	p.left -= part
	if last {
		measure(n.meter, p.since, now, p.weight, outcome)
		v.active.remove(p)
	}
}

// passInShadow books time since the last call.
func (n *Node) passInShadow(now int64) {
	v, d := n.virtual(), now-n.last
	v.meter.Flow(now, int(v.running), false)
	v.unloaded.pass(d, v.running)
	if latency := v.unloaded.latency; latency > 0 {
		v.credit = min(v.credit+float64(d)*float64(n.inflight)/latency, mostCredit*float64(n.limit))
	}
}

// forgetCredit has a new limit begin without what was saved up under the last one, which would have a law
// that lowers it take the server for quicker than it is: little would refuse 2.7 points too few at 1.2 of
// what a pool can do, instead of 1.0.
func (v *virtual) forgetCredit() { v.credit = min(v.credit, 0) }
