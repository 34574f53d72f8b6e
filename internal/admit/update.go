package admit

import (
	"cmp"

	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/law"
)

// New returns a node that starts at now. The group is nil for a node without one.
func New(s Settings, l law.Law, group *Group, now int64) (*Node, error) {
	n := &Node{}
	return n, n.Init(s, l, group, now)
}

// Init makes the zero Node equal to the result of New, so that a node can be part of a larger
// struct.
func (n *Node) Init(s Settings, l law.Law, group *Group, now int64) error {
	control, err := Controller(l, s.Bounds)
	if err != nil {
		return err
	}
	n.control, n.last = control, now
	n.slots.limit = int32(s.Bounds.Initial)
	n.conf, n.slots.lookback = confOf(s), span(s.Lookback)
	n.events.observed = s.Observed
	var fx Effects
	n.arrange(s, now, &fx)
	n.setShadow(s.Shadow, now, &fx)
	n.slots.accumulate(s.Cumulative)
	n.begin(now, first(control, s.Bounds, &fx))
	if fx.Panic != nil {
		panic(fx.Panic)
	}
	if group != nil {
		group.join(n, s.Allocation)
	}
	return nil
}

// arrange applies the settings to the queue. Waiters keep their places.
func (n *Node) arrange(s Settings, now int64, fx *Effects) {
	if n.queue == nil && s.Tenants > 0 {
		n.queue = queue.New(s.Order)
	}
	if n.queue != nil {
		n.queue.SetOrder(s.Order, n.view(now), &fx.Woken)
		n.queue.SetTenants(s.Tenants)
	}
	n.slots.flags.set(tenanted, s.Tenants > 0)
}

// Update applies new settings and a new law to a running node, or neither if the law returns an
// error. The old law keeps its state if the controller can be retuned; otherwise a new controller
// starts from the current limit. Running and waiting work is left alone. The settings apply even if
// the law panics after its controller was made.
func (n *Node) Update(s Settings, l law.Law, now int64, fx *Effects) error {
	n.slots.lock()
	defer n.slots.unlock()
	bounds := s.Bounds
	bounds.Initial = min(max(cmp.Or(s.Resumed, int(n.slots.found(n.decided))), bounds.Min), bounds.Max)
	fresh, err := Controller(l, bounds)
	if err != nil {
		return err
	}
	// All user code is called before anything is changed.
	kept := n.retune(l, fx)
	var begun law.Decision
	if !kept {
		begun = first(fresh, bounds, fx)
	}

	if s.Applied != nil {
		s.Applied()
	}
	if n.slots.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)
	if n.slots.member != nil {
		n.slots.member.allocate(s.Allocation)
	}
	if n.minSamples == n.conf.minSamples { // not the law's own
		n.minSamples = int32(s.MinSamples)
	}
	n.conf, n.slots.lookback = confOf(s), span(s.Lookback)
	n.events.observed = s.Observed
	limit, from := n.slots.limit, n.slots.found(n.decided)
	n.setShadow(s.Shadow, now, fx)
	n.slots.accumulate(s.Cumulative)
	n.arrange(s, now, fx)
	n.slots.limit = int32(bounds.Initial)
	why := law.Reason{Code: law.Configured}
	if kept {
		n.due = min(n.due, now+n.conf.interval)
		n.expired = min(n.expired, now+n.slots.lookback)
	} else {
		n.control, fx.Replaced = fresh, true
		if n.begin(now, begun); begun.Reason.Code != law.NoReason {
			why = begun.Reason
		}
	}
	n.slots.setFound(n.slots.limit, n.decided, n.conf.max)
	if n.slots.found(n.decided) != from || fx.Replaced {
		n.change(now, from, why, fx)
	}
	if n.slots.meter != nil && (n.slots.limit != limit || fx.Replaced) {
		n.slots.meter.Restart(now, 0)
	}
	n.serve(now, fx)
	if n.slots.member != nil {
		n.slots.member.group.review(now, fx)
	}
	return nil
}
