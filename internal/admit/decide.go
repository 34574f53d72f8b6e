package admit

import (
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/weir-go/weir/law"
)

// controllerOf starts a law.
func controllerOf(l law.Law, b law.Bounds) (law.Controller, error) {
	control, err := l.Controller(b)
	if err == nil && control == nil {
		err = fmt.Errorf("%T returned neither a controller nor an error: want one of them", l)
	}
	return control, err
}

// first asks a new controller how to measure the first window, and for the
// limit to start from, by showing it an empty one.
func first(c law.Controller, b law.Bounds, fx *Effects) law.Decision {
	return ask(c, law.Window{Limit: b.Initial, Min: b.Min, Max: b.Max}, fx)
}

// begin applies the first decision of a new controller.
func (n *Node) begin(now int64, d law.Decision) {
	n.limit = int32(n.bounds().Clamp(d.Limit, int(n.limit)))
	n.decided = newReason(d.Reason)
	n.plan(now, d.Next, 0)
}

func (n *Node) bounds() law.Bounds {
	return law.Bounds{Min: int(n.conf.min), Max: int(n.conf.max), Initial: int(n.limit)}
}

// closeWindow lets the law decide if the window that is due has the samples for
// it. One without enough of them stays open for the look-back and is then closed
// all the same: the law must hear that hardly anything completes.
func (n *Node) closeWindow(now int64, fx *Effects) {
	if n.meter == nil {
		n.due, n.expired = now+n.conf.interval, now+n.conf.lookback
		return
	}
	if n.completedInWindow() < int(n.minSamples) && !n.sampled() && now < n.expired {
		return
	}
	n.decide(now, fx)
}

// completedInWindow is what counts among the samples that the window needs.
func (n *Node) completedInWindow() int {
	if n.carried {
		return n.meter.Completed() + n.meter.Carried()
	}
	return n.meter.Completed()
}

// sampled reports whether the window has all the samples that it was planned to
// take, and so closes early.
func (n *Node) sampled() bool {
	return n.maxSamples > 0 && n.meter.Completed() >= int(n.maxSamples)
}

func (n *Node) decide(now int64, fx *Effects) {
	w := n.meter.Window(now, int(n.inflight))
	w.Limit, w.Min, w.Max = int(n.limit), int(n.conf.min), int(n.conf.max)
	w.MinSamples = int(n.minSamples)
	if n.conf.wall != nil {
		w.Closed = n.conf.wall()
	}
	d := ask(n.control, w, fx)
	n.decided = newReason(d.Reason)
	next := int32(n.bounds().Clamp(d.Limit, int(n.limit)))
	changed := next != n.limit
	settle := int64(0)
	if changed {
		settle = span(d.Next.Settle)
	}
	n.plan(now, d.Next, settle)
	if changed {
		n.change(now, next, d.Reason, fx)
		n.serve(now, fx)
	}
	if changed || n.maxSamples > 0 {
		n.meter.Restart(now, time.Duration(settle))
	}
}

// ask lets the law decide. A law that panics must not leave the node locked: the
// limit is held, and the panic goes on once the lock is free.
func ask(c law.Controller, w law.Window, fx *Effects) (d law.Decision) {
	d = law.Decision{Limit: float64(w.Limit)}
	defer fx.catch()
	return c.Next(w)
}

// catch keeps the panic of a law. It is to be deferred.
func (fx *Effects) catch() {
	if r := recover(); r != nil {
		fx.Notable, fx.Panic = true, fmt.Errorf("law panicked: %v\n\n%s", r, debug.Stack())
	}
}

// plan says when the next window closes, and on what.
func (n *Node) plan(now int64, p law.Plan, settle int64) {
	interval, lookback := span(p.Interval), span(p.MaxAge)
	if interval == 0 {
		interval = n.conf.interval
	}
	if lookback == 0 {
		lookback = max(n.conf.lookback, interval)
	}
	n.minSamples = count(p.MinSamples)
	if n.minSamples == 0 {
		n.minSamples = n.conf.minSamples
	}
	n.maxSamples = count(p.MaxSamples)
	n.carried = p.Carried
	n.due = now + settle + interval
	n.expired = now + settle + lookback
	if n.meter != nil {
		n.meter.SetLookback(time.Duration(lookback))
	}
	if n.flags&shadow != 0 {
		n.virtual().meter.SetLookback(time.Duration(lookback))
	}
}

// count bounds a number of samples.
func count(samples int) int32 { return int32(min(max(samples, 0), math.MaxInt32)) }

// change moves the limit and records why.
func (n *Node) change(now int64, next int32, why law.Reason, fx *Effects) {
	from := n.limit
	n.limit = next
	if n.flags&shadow != 0 {
		n.virtual().forgetCredit()
	}
	n.history.add(now, int(from), int(next), why)
	if n.conf.observed {
		fx.Notable = true
		fx.Change = &Change{At: now, From: int(from), To: int(next), Reason: why, Seq: n.nextEvent()}
	}
}

// Update applies new settings and a new law to a running node, or neither if the
// law or the group refuses them. What the old law learned is kept if the controller can be
// retuned; otherwise a new one starts from the current limit. What runs and what
// waits is left alone. A law that panics once its controller is made does not keep the settings
// from being applied.
func (n *Node) Update(s Settings, l law.Law, now int64, fx *Effects) error {
	n.lock()
	defer n.unlock()
	bounds := s.Bounds
	bounds.Initial = min(max(int(n.limit), bounds.Min), bounds.Max)
	fresh, err := controllerOf(l, bounds)
	if err != nil {
		return err
	}
	if n.member != nil {
		if err := n.member.affords(s); err != nil {
			return err
		}
	}
	// All that is the user's is asked before anything is changed.
	kept := n.retune(l, fx)
	var begun law.Decision
	if !kept {
		begun = first(fresh, bounds, fx)
	}

	if n.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if n.member != nil {
		n.member.restake(s)
	}
	if n.minSamples == n.conf.minSamples { // not the law's own
		n.minSamples = int32(s.MinSamples)
	}
	n.configure(s)
	n.setShadow(s.Shadow, now, fx)
	if m := n.realMeter(); m != nil {
		m.Accumulate(s.Cumulative, int(n.running()))
	}
	if n.queue != nil {
		n.setDiscipline()
	}
	n.setTenants(s.Tenants, now)
	from := n.limit
	n.limit = int32(bounds.Initial)
	why := law.Reason{Code: law.Configured}
	if kept {
		n.due = min(n.due, now+n.conf.interval)
		n.expired = min(n.expired, now+n.conf.lookback)
	} else {
		n.control, fx.Replaced = fresh, true
		if n.begin(now, begun); begun.Reason.Code != law.NoReason {
			why = begun.Reason
		}
	}
	next := n.limit
	n.limit = from
	if next != from || fx.Replaced {
		n.change(now, next, why, fx)
		if n.meter != nil {
			n.meter.Restart(now, 0)
		}
	}
	n.serve(now, fx)
	if n.member != nil {
		n.member.group.review(now, fx)
	}
	return nil
}

// retune offers the law to the controller at work.
func (n *Node) retune(l law.Law, fx *Effects) bool {
	defer fx.catch()
	tuner, ok := n.control.(law.Retuner)
	return ok && tuner.Retune(l)
}
