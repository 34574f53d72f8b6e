package bulkhead

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/admit"
)

// Update applies a new configuration to the running set, whole or not at all. It checks the
// configuration first, and an error, as [New] would return it, leaves everything as it was. A panic
// of a law or a hook goes on once all other keys have their new settings. Updates that overlap
// follow each other.
//
// The state of a key is kept, as by [weir.Limiter.Update], also when a key that was unknown is
// named now. Running and waiting work continues. A key that is no longer named takes no new work:
// new work gets the settings of Default. Its waiting work is served or times out by the old
// settings, without the reserve, and then its compartment goes. Unknown keys beyond a lower MaxKeys
// go in the same way.
//
// An update can change a cap, but neither add nor remove a cap. A lower cap of [Set.SetMax] stays.
// A closed set stays closed. An OnEvent that is called for the update, or for a Restore, must not
// call Update, Restore, SetMax, Close or Shutdown, which would wait for it.
func (s *Set) Update(c Config) error {
	c, err := c.complete()
	if err != nil {
		return err
	}
	s.updating.Lock()
	defer s.updating.Unlock()
	old := s.table.Load()
	if (c.Max == 0) != (old.conf.Max == 0) {
		return invalid("Max", c.Max, fmt.Sprintf("0 if and only if it was: it is %d; make a new Set", old.conf.Max))
	}
	next := newTable(c, s.capped)
	all, err := s.replace(old, next)
	if err != nil {
		return err
	}
	s.group.resize(min(c.Max, s.capped))
	var failed []error
	each(all, func(c *compartment) { failed = append(failed, s.apply(c, next.of(c.key))) })
	return errors.Join(failed...)
}

// replace puts the next table in place of the old one, with every compartment in its new role. It
// returns the compartments that need their new settings. Steps that may fail come first.
func (s *Set) replace(old, next *table) ([]*compartment, error) {
	d := &s.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := s.fill(next, old); err != nil {
		return nil, err
	}
	stay, leave := d.divide(next)
	for key, c := range old.byKey {
		// Reserves shrink before any grows and before the cap moves, so their sum never exceeds it.
		s.group.reserve(c.limiter, 0, next.conf.ByKey[key].Reserved)
		if next.byKey[key] == nil {
			leave = append(leave, c)
		}
	}
	s.table.Store(next)
	for _, c := range leave {
		c.shut() // new work goes elsewhere
	}
	d.leaving = append(d.leaving, leave...)
	d.reset(stay)
	s.reap(len(d.leaving))
	return append(slices.Collect(maps.Values(next.byKey)), stay...), nil
}

// fill gives each key of the next table its compartment, which it opens if the key has none.
func (s *Set) fill(next, old *table) (err error) {
	for key, k := range next.conf.ByKey {
		c := cmp.Or(old.byKey[key], s.dynamic.byKey[key])
		if c == nil {
			// It opens without its reserve, because other keys may have to give up theirs first.
			if c, err = s.open(key, k, admit.Allocation{Share: k.Share}); err != nil {
				return err
			}
			if s.dynamic.closed {
				c.limiter.Close()
			}
		}
		next.byKey[key] = c
	}
	return nil
}

// divide splits the dynamic compartments that the table does not name into the ones that stay and
// the ones that leave.
func (d *dynamic) divide(next *table) (stay, leave []*compartment) {
	for _, c := range d.ring {
		switch {
		case next.byKey[c.key] != nil:
		case len(stay) < next.conf.MaxKeys:
			stay = append(stay, c)
		default:
			leave = append(leave, c)
		}
	}
	return stay, leave
}

// each calls f for all elements. If a law or a hook panics, or ends the goroutine, f is called for
// the rest before the panic continues or the goroutine ends.
func each[T any](all []T, f func(T)) {
	defer func() {
		if len(all) > 0 {
			each(all, f)
		}
	}()
	for len(all) > 0 {
		next := all[0]
		all = all[1:]
		f(next)
	}
}

// apply gives a compartment its new settings, unless it was evicted meanwhile. It keeps the breaker
// if that has been made and is still wanted.
func (s *Set) apply(c *compartment, to Compartment) error {
	if !c.enter() {
		return nil
	}
	defer c.leave()
	if to.Breaker == nil || c.breaker == nil || c.breaker.ready.Load() == nil {
		c.breaker = to.newBreaker(c.key)
	}
	return limiters.Update(c.limiter, to.settings(c.key, c.breaker), to.allocation())
}

// SetMax moves the cap of all keys to a number of slots, from 0 to 1,000,000,000. It takes effect
// at once. Running work continues: above the new cap no work starts until enough running work has
// ended, and at 0 no work starts at all. Work that finds no room waits in its key's queue, or is
// refused without a queue.
//
// Reserves yield to the cap. While it is below their sum, each key keeps the same part of its
// reserve, rounded down. It has its whole reserve again as soon as the cap has room for all
// reserves.
//
// [Set.Update] keeps the cap, unless its own [Config].Max is lower. SetMax is for a cap that is
// found at run time: the part of a fleet's budget that this process holds, or the connections that
// a pool has now. A set without a cap returns an error that matches [weir.ErrConfig], and so does a
// value out of range.
func (s *Set) SetMax(slots int) error {
	if slots < 0 || slots > mostSlots {
		return fmt.Errorf("%w: bulkhead: SetMax of %d: want 0 to %d", weir.ErrConfig, slots, mostSlots)
	}
	s.updating.Lock()
	defer s.updating.Unlock()
	t := s.table.Load()
	if t.conf.Max == 0 {
		return fmt.Errorf("%w: bulkhead: SetMax of a set without a cap: make one with Config.Max above 0", weir.ErrConfig)
	}
	keep := t.given.reserves(slots)
	for key, c := range t.byKey { // before the cap moves, so that it always has room for them
		s.group.reserve(c.limiter, 0, keep[key])
	}
	s.group.resize(slots)
	s.capped = slots
	for key, c := range t.byKey {
		s.group.reserve(c.limiter, keep[key], keep[key])
	}
	return nil
}

// reserves returns how many slots of its reserve each key keeps below a cap.
func (c Config) reserves(slots int) map[string]int {
	all := 0
	for _, k := range c.ByKey {
		all += k.Reserved
	}
	keep := make(map[string]int, len(c.ByKey))
	for key, k := range c.ByKey {
		if keep[key] = k.Reserved; all > slots {
			keep[key] = int(int64(k.Reserved) * int64(slots) / int64(all))
		}
	}
	return keep
}
