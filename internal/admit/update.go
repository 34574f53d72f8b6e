package admit

import "github.com/weir-go/weir/law"

// New returns a node that starts at now. The group is nil for a node of its own.
func New(s Settings, l law.Law, group *Group, now int64) (*Node, error) {
	n := &Node{}
	return n, n.Init(s, l, group, now)
}

// Init makes the zero Node what New returns, so that a node can be part of
// something larger.
func (n *Node) Init(s Settings, l law.Law, group *Group, now int64) error {
	control, err := l.Controller(s.Bounds)
	if err != nil {
		return err
	}
	n.control, n.last = control, now
	n.limit = int32(s.Bounds.Initial)
	n.conf, n.lookback = confOf(s), span(s.Lookback)
	n.arrange(s, now)
	n.setShadow(s.Shadow, now, nil) // nothing waits
	n.begin(now)
	if group != nil {
		return group.join(n, s)
	}
	return nil
}

// arrange has the queue follow the settings. Those who wait keep their places.
func (n *Node) arrange(s Settings, now int64) {
	if n.queue == nil && s.Tenants > 0 {
		n.makeQueue(now)
	}
	if n.queue != nil {
		n.queue.SetOrder(s.Order, n.view(now))
		n.queue.SetTenants(s.Tenants, now)
	}
	n.flags.set(tenanted, s.Tenants > 0)
}

// Update applies new settings and a new law to a running node, or neither if the
// law or the group refuses them. What the old law learned is kept if the controller can be
// retuned; otherwise a new one starts from the current limit. What runs and what
// waits is left alone.
func (n *Node) Update(s Settings, l law.Law, now int64, fx *Effects) error {
	n.lock()
	defer n.unlock()
	if n.flags&shadow != 0 {
		n.catchUp(now, fx)
	}
	now = n.flow(now)

	bounds := s.Bounds
	bounds.Initial = min(max(int(n.limit), bounds.Min), bounds.Max)
	fresh, err := l.Controller(bounds)
	if err != nil {
		return err
	}
	if n.member != nil {
		if err := n.member.restake(s); err != nil {
			return err
		}
	}
	if n.minSamples == n.conf.minSamples { // not the law's own
		n.minSamples = int32(s.MinSamples)
	}
	n.conf, n.lookback = confOf(s), span(s.Lookback)
	n.setShadow(s.Shadow, now, fx)
	n.arrange(s, now)
	from := n.limit
	n.limit = int32(bounds.Initial)
	why := law.Reason{Code: law.Configured}
	if n.retune(l) {
		n.due = min(n.due, now+n.conf.interval)
		n.expired = min(n.expired, now+n.lookback)
	} else {
		n.control, fx.Replaced = fresh, true
		if begun := n.begin(now); begun.Code != law.NoReason {
			why = begun
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
