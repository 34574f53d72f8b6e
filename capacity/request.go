package capacity

import (
	"fmt"
	"maps"
	"slices"
)

// A Request is a [Vector] compiled for one [Capacity], which costs the look-ups once.
// It does not change, and any number of goroutines may use it.
type Request struct {
	of      *Capacity
	amounts []amount // by level, then by name
}

// An amount is the need of one resource.
type amount struct {
	*resource
	units int64
	level int // in the path of the capacity
}

// Request compiles the needs of work. A resource may be one of the ancestors only. A resource that
// no level has, or an amount below 0, is an error that matches [ErrConfig]. Request leaves out
// amounts of 0. A request above a present limit can never fit, which is an error that matches
// [ErrNeverFits] and names the resource.
func (c *Capacity) Request(v Vector) (*Request, error) {
	names := slices.Sorted(maps.Keys(v))
	all := c.allNames()
	for _, name := range names {
		if v[name] < 0 {
			return nil, fmt.Errorf("%w: request for %q is %d: want 0 or more", ErrConfig, name, v[name])
		}
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("%w: request for %q, which is unknown: want one of %q", ErrConfig, name, all)
		}
	}
	req := &Request{of: c}
	for k, level := range c.path {
		for _, name := range names {
			if r := level.resource(name); r != nil && v[name] > 0 {
				req.amounts = append(req.amounts, amount{r, v[name], k})
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := req.impossible(); a != nil {
		return nil, a.refused(NeverFits)
	}
	return req, nil
}

// allNames returns the names of the resources in the path.
func (c *Capacity) allNames() (names []string) {
	for _, level := range c.path {
		names = append(names, level.names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checked returns an error unless req was compiled by c.
func (c *Capacity) checked(req *Request) error {
	if req == nil || req.of != c {
		return fmt.Errorf("%w: the request was not compiled by this capacity: use its Request method", ErrConfig)
	}
	return nil
}

// impossible returns an amount that is above its limit, nil if there is none.
func (req *Request) impossible() *amount {
	for i := range req.amounts {
		if a := &req.amounts[i]; a.units > a.limit {
			return a
		}
	}
	return nil
}

// short returns an amount of the level that is not free, nil if there is none.
func (req *Request) short(level int) *amount {
	for i := range req.amounts {
		if a := &req.amounts[i]; a.level == level && a.units > a.free() {
			return a
		}
	}
	return nil
}

// refused returns why the request cannot be met at once, or nil. It may pass no waiter but leave.
// It must be called under the lock, as must the refused of an amount, because both describe the
// present state.
func (req *Request) refused(leave *reservation) *ShortageError {
	for k, level := range req.of.path {
		first, short := level.first(), req.short(k)
		queued := first != nil && first != leave
		if !queued && short == nil {
			continue
		}
		if a := req.impossible(); a != nil {
			return a.refused(NeverFits)
		}
		if queued {
			return &ShortageError{Reason: Queued, Level: k}
		}
		return short.refused(Short)
	}
	return nil
}

func (a *amount) refused(why Reason) *ShortageError {
	return &ShortageError{why, a.name, a.level, a.units, a.free(), a.limit}
}
