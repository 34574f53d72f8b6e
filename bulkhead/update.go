package bulkhead

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/weir-go/weir/internal/admit"
)

// Update applies a new configuration to the running set, whole or not at all: it is
// checked first, and an error, which is one that [New] would return, leaves everything
// as it was. A law or a hook that panics does so once
// all other keys have their new settings. Updates that overlap follow each other.
//
// The state of a key is kept, as by [weir.Limiter.Update], also when a key that was
// unknown is named now. Running and waiting work continues. A key that is no longer named
// takes no new work, which gets the settings of Default; waiting work in it is served or
// times out by its old settings, without its reserve, and then it goes. The same becomes
// of unknown keys beyond a lower MaxKeys.
//
// A cap can be changed but not brought or removed. A closed set stays closed. An OnEvent
// that hears of the update must not call Update, Close or Shutdown, which would wait for it.
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
	changes, err := s.replace(old, c)
	if err != nil {
		return err
	}
	if err := s.group.resize(c.Max); err != nil {
		return err
	}
	return s.retune(changes)
}

// A change is the effect of an update on a compartment.
type change struct {
	*compartment
	to      Compartment
	breaker *lateBreaker
	dynamic bool
}

// newChange keeps the breaker of the compartment, if it has been made and is still wanted.
func newChange(c *compartment, to Compartment, dynamic bool) change {
	breaker := c.breaker
	switch {
	case to.Breaker == nil:
		breaker = nil
	case breaker == nil || breaker.made() == nil:
		breaker = to.newBreaker(c.key)
	}
	return change{c, to, breaker, dynamic}
}

// replace puts a new table in place of the old one, with every compartment in its new
// role and none with its new settings, which it returns. Steps that may fail come first.
func (s *Set) replace(old *table, c Config) (changes []change, err error) {
	d := &s.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	next := newTable(c)
	var opened []*compartment
	replaced := false
	defer func() {
		if !replaced {
			s.discard(opened)
		}
	}()
	for key, k := range next.conf.ByKey {
		c := cmp.Or(old.byKey[key], d.byKey[key])
		if c == nil {
			if c, err = s.openUnreserved(key, k); err != nil {
				return nil, err
			}
			opened = append(opened, c)
		}
		next.byKey[key] = c
		changes = append(changes, newChange(c, k, false))
	}
	stay, leave := d.divide(next)
	for _, dynamic := range stay {
		changes = append(changes, newChange(dynamic, next.conf.Default, true))
	}
	replaced = true

	s.unreserve(old, next)
	s.table.Store(next)
	for key, c := range old.byKey {
		if next.byKey[key] == nil {
			leave = append(leave, c)
		}
	}
	for _, c := range leave {
		d.leave(c)
	}
	d.reset(stay)
	s.reap(len(d.leaving))
	return changes, nil
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

// openUnreserved opens a compartment that has no reserve yet: others may have to give theirs
// up first.
func (s *Set) openUnreserved(key string, k Compartment) (*compartment, error) {
	c, err := s.open(key, k, admit.Allocation{Share: k.Share})
	if err == nil && s.dynamic.closed {
		c.limiter.Close()
	}
	return c, err
}

// discard removes compartments that no caller has seen yet.
func (s *Set) discard(opened []*compartment) {
	for _, c := range opened {
		s.remove(c)
	}
}

// leave has new work go elsewhere.
func (d *dynamic) leave(c *compartment) {
	c.shut()
	d.leaving = append(d.leaving, c)
}

// unreserve lowers the reserves that shrink before any grows and before the cap moves, so
// that at no time there are more than the cap holds.
func (s *Set) unreserve(old, next *table) {
	for key, c := range old.byKey {
		s.group.reserve(c.limiter, 0, next.conf.ByKey[key].Reserved)
	}
}

// retune gives every compartment its new settings.
func (s *Set) retune(changes []change) error {
	var failed []error
	each(changes, func(c change) { failed = append(failed, s.apply(c)) })
	return errors.Join(failed...)
}

// each calls f for all, also if a law or a hook panics, or exits, on the way: then the others
// have had their call before that goes on.
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

func (s *Set) apply(c change) error {
	if c.dynamic {
		if !c.enter() {
			return nil
		}
		defer c.leave()
	}
	c.compartment.breaker = c.breaker
	return limiters.Update(c.limiter, c.to.settings(c.key, c.breaker), c.to.allocation())
}
