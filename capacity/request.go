package capacity

import (
	"fmt"
	"maps"
	"slices"
)

// A Request is a [Vector] compiled for one [Capacity], which costs the look-ups once.
// It does not change, and any number of goroutines may use it.
type Request struct {
	of     *Capacity
	all    []part     // taken at the start
	back   []part     // given back when the work ends: all but of quotas
	levels [][]amount // all along the path of the capacity
}

// A part is the need of one resource.
type part struct {
	*resource
	units int64
}

// An amount is a part with the name of its resource.
type amount struct {
	part
	name string
}

// Request compiles the needs of work. A resource may be one of the parent's only; one
// that neither has, or an amount below 0, is an error that matches [ErrConfig]. An
// amount of 0 is left out. A request above a present limit can never fit, which is an
// error that matches [ErrNeverFits] and names the resource.
func (c *Capacity) Request(v Vector) (*Request, error) {
	req := &Request{of: c, levels: make([][]amount, len(c.path))}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		units, found := v[name], false
		if units < 0 {
			return nil, fmt.Errorf("%w: request for %q is %d: want 0 or more", ErrConfig, name, units)
		}
		for k, level := range c.path {
			if r := level.resource(name); r != nil {
				found = true
				if units > 0 {
					req.add(k, amount{part{r, units}, name})
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: request for %q, which is unknown: want one of %q",
				ErrConfig, name, c.allNames())
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, a := req.impossible(); a != nil {
		return nil, refusal(NeverFits, k, a)
	}
	return req, nil
}

func (req *Request) add(level int, a amount) {
	req.all = append(req.all, a.part)
	if req.of.path[level].quota == nil {
		req.back = append(req.back, a.part)
	}
	req.levels[level] = append(req.levels[level], a)
}

func (c *Capacity) allNames() (names []string) {
	for _, level := range c.path {
		names = append(names, level.names...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checked returns an error unless n was compiled for c.
func (c *Capacity) checked(req *Request) error {
	if req == nil || req.of != c {
		return fmt.Errorf("%w: the request was not compiled by this capacity: use its Request method", ErrConfig)
	}
	return nil
}

// impossible returns an amount that is above its limit, and its level.
func (req *Request) impossible() (level int, _ *amount) {
	for k := range req.levels {
		for i := range req.levels[k] {
			if a := &req.levels[k][i]; a.units > a.limit {
				return k, a
			}
		}
	}
	return 0, nil
}

// short returns an amount of the level that is not free.
func (req *Request) short(level int) *amount {
	amounts := req.levels[level]
	for i := range amounts {
		if a := &amounts[i]; a.units > a.free() {
			return a
		}
	}
	return nil
}

// refused says why the request cannot be met at once, though others than leave may not be
// passed. It must be called under the lock, as refusal must: it describes the present state.
func (req *Request) refused(leave *Reservation) *RefusedError {
	if k, a := req.impossible(); a != nil {
		return refusal(NeverFits, k, a)
	}
	for k, level := range req.of.path {
		if first := level.queue.first; first != nil && first.reservation != leave {
			return &RefusedError{Reason: Queued, Level: k}
		}
		if a := req.short(k); a != nil {
			return refusal(Short, k, a)
		}
	}
	return nil
}

func refusal(why Reason, level int, a *amount) *RefusedError {
	return &RefusedError{why, a.name, level, a.units, a.free(), a.limit}
}
