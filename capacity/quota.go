package capacity

import (
	"fmt"
	"slices"
	"time"
)

// A Refill says how a quota gets its resources back.
type Refill struct {
	// Every is the time from one refill to the next, counted from the making of the quota. Above 0.
	Every time.Duration
	// Add is the amount of each resource that comes back in a refill, 0 or more, up to the limit: a
	// steady rate after a burst. A resource that Add does not name comes back as a whole in each
	// refill. So do all resources if Add is nil.
	Add Vector
}

// NewQuota returns a capacity to which work gives nothing back when it ends: a resource comes back
// as time passes. Its limits bound the amounts that may be taken before a refill. Release its
// grants all the same, for it counts them. It has no goroutine, and has a timer only from the wait
// of a request until the next refill.
func NewQuota(limits Vector, r Refill) (*Capacity, error) {
	c, err := New(limits)
	if err != nil {
		return nil, err
	}
	if r.Every <= 0 {
		return nil, fmt.Errorf("%w: Refill.Every is %v: want more than 0", ErrConfig, r.Every)
	}
	q := &quota{every: r.Every, start: time.Now(), add: make([]int64, len(c.resources))}
	for i := range q.add {
		q.add[i] = reset
	}
	for name, units := range r.Add {
		if _, err := c.known(name); err != nil {
			return nil, fmt.Errorf("Refill.Add: %w", err)
		}
		if units < 0 {
			return nil, fmt.Errorf("%w: Refill.Add of %q is %d: want 0 or more", ErrConfig, name, units)
		}
		q.add[slices.Index(c.names(), name)] = units
	}
	c.quota = q
	return c, nil
}

// reset in the place of an amount brings back the whole resource.
const reset = -1

// A quota is guarded by the lock of the tree.
type quota struct {
	every time.Duration
	start time.Time
	done  int64   // refills so far
	add   []int64 // by resource: the amount, or reset
	armed bool
}

// refill brings back the resources for the time that has passed, in all quotas of the path.
func (c *Capacity) refill() {
	for _, level := range c.path {
		if q := level.quota; q != nil {
			passed := int64(time.Since(q.start)/q.every) - q.done
			if passed <= 0 {
				continue
			}
			q.done += passed
			for i := range level.resources {
				r, add := &level.resources[i], q.add[i]
				if add == reset || add > 0 && passed > r.used/add { // the product might overflow
					r.used = 0
				} else {
					r.used -= add * passed
				}
			}
		}
	}
}

// arm starts a timer that serves the waiters of a quota at its next refill.
func (c *Capacity) arm() {
	q := c.quota
	if q.armed {
		return
	}
	q.armed = true
	next := q.start.Add(time.Duration(q.done+1) * q.every)
	time.AfterFunc(time.Until(next), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		q.armed = false
		c.settle() // which arms again if a waiter is still short
	})
}
