package bulkhead

import (
	"fmt"

	"github.com/weir-go/weir"
)

// SetMax moves the cap of all keys to a number of slots, from 0 to 1,000,000,000. It takes effect
// at once. Nothing that runs is interrupted: above the new cap nothing starts until enough has
// ended, and at 0 nothing starts at all. Work that finds no room waits in its key's queue, or is
// refused without one.
//
// Reserves yield to the cap: while it is below their sum, each key keeps its part of it, rounded
// down, and has its whole reserve again as soon as the cap has room for all of them.
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
	if err := s.group.resize(slots); err != nil {
		return err
	}
	s.capped = slots
	for key, c := range t.byKey {
		s.group.reserve(c.limiter, keep[key], keep[key])
	}
	return nil
}

// reserves returns what each key keeps of its reserve below a cap.
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
