package capacity

import "github.com/weir-go/weir/internal/wire"

// A ResourceSnapshot is the state of one resource at one moment. Available is what could be taken
// now, if no reservation waits for it; Available, InUse and Withheld add up to the limit, except
// that a shrink that is owed comes on top.
type ResourceSnapshot struct {
	Limit     int64 // the most there is
	InUse     int64 // taken; of a quota, not come back yet
	Withheld  int64 // withheld of the resources not in use
	Owed      int64 // in use beyond the limit less the withheld part; comes off as work ends
	Available int64 // free
}

// A Snapshot is the state of a capacity at one moment.
type Snapshot struct {
	Resources map[string]ResourceSnapshot // by name; without the parent's
	Grants    int                         // grants of this capacity that are out; of a quota too
	Waiting   int                         // requests that wait here, also of children
}

// Resource returns the state of one resource now, all zero for a name that is unknown.
func (c *Capacity) Resource(name string) ResourceSnapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed {
		c.refill()
	}
	if r := c.resource(name); r != nil {
		return r.snapshot()
	}
	return ResourceSnapshot{}
}

// Snapshot returns the state now, of all resources at the same moment.
func (c *Capacity) Snapshot() Snapshot {
	s := Snapshot{Resources: make(map[string]ResourceSnapshot, len(c.resources))}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed {
		c.refill()
	}
	for i := range c.resources {
		s.Resources[c.resources[i].name] = c.resources[i].snapshot()
	}
	s.Grants, s.Waiting = c.ledger.out(), c.queue.length
	return s
}

// String returns the snapshot as JSON, which makes a Capacity an expvar.Var.
func (c *Capacity) String() string { return wire.String(c.Snapshot()) }

func (r *resource) snapshot() ResourceSnapshot {
	return ResourceSnapshot{
		Limit: r.limit, InUse: r.used,
		Withheld:  min(r.withheld, max(0, r.limit-r.used)),
		Owed:      max(0, -r.free()),
		Available: max(0, r.free()),
	}
}
