package capacity

import (
	"fmt"
	"slices"
	"time"
)

// A Refill says how a quota gets its resources back.
type Refill struct {
	// Every is how often, counted from when the quota was made. Above 0.
	Every time.Duration
	// Add is how much of each resource comes back each time, up to its limit, each
	// 0 or more: a steady rate after a burst. A resource that it does not name
	// comes back as a whole, and so do all if Add is nil: so much in each period.
	Add Vector
}

// NewQuota returns a capacity to which work gives nothing back when it ends: a
// resource comes back as time passes. Its limits are the most that may be taken before
// anything comes back. Release its grants all the same, for it counts them. It has no
// goroutine, and a timer only from when somebody waits for it until something comes back.
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

// reset instead of an amount brings back all.
const reset = -1

// A quota is guarded by the lock of the tree.
type quota struct {
	every time.Duration
	start time.Time
	done  int64   // refills so far
	add   []int64 // by resource, or reset
	armed bool
}

// refill makes up for the time that passed, for all quotas of the path.
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

// arm makes the next refill serve its waiters.
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
		c.settle() // which arms again for who is still short
	})
}
