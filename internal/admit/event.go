package admit

// Follow has the owner of the node change who hears of its events, under the lock, and say whether any do besides
// those of Settings.Observed. Updates keep that.
func (n *Node) Follow(change func() bool) {
	n.lock()
	defer n.unlock()
	n.conf.followed = change()
}

// nextEvent returns the number of an event, 0 if no one hears of it.
func (n *Node) nextEvent() uint64 {
	if !n.conf.reports() {
		return 0
	}
	n.events++
	return n.events
}

func (c *conf) reports() bool { return c.observed || c.followed }
