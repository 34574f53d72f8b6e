package capacity

import (
	"container/list"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/weir-go/weir/internal/wire"
)

// A Vector is an amount of each named resource, in whole units of the user's
// choice.
type Vector map[string]int64

// A Capacity hands out named resources. All methods are safe for concurrent use.
// It has no goroutine. Make one with [New], [NewQuota] or [Capacity.Child]; the
// zero Capacity is not usable.
type Capacity struct {
	_ [0]sync.Mutex // lets go vet report copies, which would share resources and not grants

	*tree
	path      []*Capacity // this capacity, its parent, and so on
	resources []resource  // by name
	quota     *quota      // nil if resources come back when work ends
	queue     list.List   // reservations that are short here, in order of arrival
	ledger    ledger
}

// A tree is the state that a capacity shares with its ancestors and all their descendants.
type tree struct {
	mu      sync.Mutex
	waiting int         // reservations in queues
	left    []*Capacity // levels that settle has still to serve
}

// A resource is guarded by the lock of its tree.
type resource struct {
	limit, withheld, used int64
	name                  string
}

// free returns the free amount. It is below 0 if a shrink is owed. It cannot overflow, because all
// three numbers are at least 0.
func (r *resource) free() int64 { return r.limit - r.withheld - r.used }

// New returns a capacity with the given limits: at least one limit, each with a name and 0 or more.
// Other limits are an error that matches [ErrConfig].
func New(limits Vector) (*Capacity, error) { return build(limits, &tree{}, nil) }

// Child returns a capacity whose grants also take their resources from c and its ancestors, as far
// as these have them. The limits of all children may add up to more than the limit of c, which then
// bounds all children together.
func (c *Capacity) Child(limits Vector) (*Capacity, error) { return build(limits, c.tree, c.path) }

// build returns a capacity below its ancestors, the nearest first.
func build(limits Vector, t *tree, ancestors []*Capacity) (*Capacity, error) {
	if len(limits) == 0 {
		return nil, fmt.Errorf("%w: no resources: want at least one", ErrConfig)
	}
	c := &Capacity{tree: t}
	c.path = append([]*Capacity{c}, ancestors...)
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if name == "" {
			return nil, fmt.Errorf("%w: a resource has no name", ErrConfig)
		}
		if limits[name] < 0 {
			return nil, fmt.Errorf("%w: limit of %q is %d: want 0 or more", ErrConfig, name, limits[name])
		}
		c.resources = append(c.resources, resource{limit: limits[name], name: name})
	}
	return c, nil
}

// resource returns the resource of that name, nil if there is none at this level.
func (c *Capacity) resource(name string) *resource {
	// Without the lock only the name may be read, so the search must not copy a resource.
	i, found := sort.Find(len(c.resources), func(i int) int { return strings.Compare(name, c.resources[i].name) })
	if !found {
		return nil
	}
	return &c.resources[i]
}

func (c *Capacity) names() (names []string) {
	for i := range c.resources {
		names = append(names, c.resources[i].name)
	}
	return names
}

// known returns the resource of a name as resource does, but an error for an unknown name.
func (c *Capacity) known(name string) (*resource, error) {
	if r := c.resource(name); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%w: unknown resource %q: want one of %q", ErrConfig, name, c.names())
}

// SetLimit changes the amount of a resource, to 0 or more. A lower limit takes effect as work ends:
// until then the amount in use above the limit is owed. An amount withheld above the new limit is
// cut to the limit. A waiter that needs more than the limit is refused when its turn comes.
func (c *Capacity) SetLimit(name string, limit int64) error {
	return c.change(name, func(r *resource) error {
		if limit < 0 {
			return fmt.Errorf("%w: limit of %q is %d: want 0 or more", ErrConfig, name, limit)
		}
		r.limit, r.withheld = limit, min(r.withheld, limit)
		return nil
	})
}

// Withhold sets the amount of a resource that no work may take, from 0 to the limit of the
// resource. It replaces the amount that was withheld before. An amount that is in use is owed until
// work gives it back.
func (c *Capacity) Withhold(name string, amount int64) error {
	return c.change(name, func(r *resource) error {
		if amount < 0 || amount > r.limit {
			return fmt.Errorf("%w: withheld %q is %d: want 0 to its limit, which is %d", ErrConfig, name, amount, r.limit)
		}
		r.withheld = amount
		return nil
	})
}

// first returns the reservation at the head of the queue, nil if no reservation waits here.
func (c *Capacity) first() *reservation {
	if e := c.queue.Front(); e != nil {
		return e.Value.(*reservation)
	}
	return nil
}

// change changes a resource, and serves the waiters that have room then.
func (c *Capacity) change(name string, change func(*resource) error) error {
	r, err := c.known(name)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err = change(r); err == nil {
		c.settle()
	}
	return err
}

// A ResourceSnapshot is the state of one resource at one moment. Available is the amount that could
// be taken now, if no reservation waits for it. Available, InUse and Withheld add up to the limit
// plus Owed.
type ResourceSnapshot struct {
	Limit     int64 // the limit
	InUse     int64 // taken and not given back; of a quota, not come back yet
	Withheld  int64 // withheld of the resources not in use
	Owed      int64 // the part of InUse above the limit less the withheld amount
	Available int64 // free
}

// A Snapshot is the state of a capacity at one moment.
type Snapshot struct {
	Resources map[string]ResourceSnapshot // by name; without the parent's
	Grants    int                         // grants of this capacity that are out; of a quota too
	Waiting   int                         // requests that wait here, also of children
}

// Resource returns the state of one resource now: of c, or else of the nearest parent that has it.
// It is all zero for a name that is unknown.
func (c *Capacity) Resource(name string) ResourceSnapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refill()
	for _, level := range c.path {
		if r := level.resource(name); r != nil {
			return r.snapshot()
		}
	}
	return ResourceSnapshot{}
}

// Snapshot returns the state now, of all resources at the same moment.
func (c *Capacity) Snapshot() Snapshot {
	s := Snapshot{Resources: make(map[string]ResourceSnapshot, len(c.resources))}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refill()
	for i := range c.resources {
		s.Resources[c.resources[i].name] = c.resources[i].snapshot()
	}
	s.Grants, s.Waiting = c.ledger.out(), c.queue.Len()
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
