package bulkhead

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/weir-go/weir"
)

// Update applies a new configuration to the running set, whole or not at all: it is
// checked first, and an error, which is one that [New] would return, leaves everything
// as it was. Updates that overlap follow each other.
//
// What a key learned is kept, as by [weir.Limiter.Update], also when a key that was
// unknown is named now. What runs and what waits goes on. A key that is no longer named
// is left by newcomers, who get the settings of Default; what waits in it is served or
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
	old := s.roster.Load()
	if (c.Max == 0) != (old.conf.Max == 0) {
		return invalid("Max", c.Max, fmt.Sprintf("0 if and only if it was: it is %d; make a new Set", old.conf.Max))
	}
	next, strangers, err := s.replace(old, c)
	if err != nil {
		return err
	}
	if s.group != nil {
		if err := s.group.Resize(c.Max); err != nil {
			return err
		}
	}
	return s.retune(next, strangers)
}

// replace puts a new roster in place of the old one, with every compartment in its new
// role and none with its new settings. It returns the guests that stay.
func (s *Set) replace(old *roster, c Config) (next *roster, strangers []*compartment, err error) {
	g := &s.guests
	g.mu.Lock()
	defer g.mu.Unlock()
	next = &roster{conf: c, byKey: make(map[string]*compartment, len(c.ByKey))}
	var opened []*compartment
	for key, k := range c.ByKey {
		c := cmp.Or(old.byKey[key], g.byKey[key])
		if c == nil {
			if c, err = s.newcomer(key, k); err != nil {
				s.discard(opened)
				return nil, nil, err
			}
			opened = append(opened, c)
		}
		next.byKey[key] = c
	}
	s.unreserve(old, next)
	s.roster.Store(next)
	for key, c := range old.byKey {
		if next.byKey[key] == nil {
			g.leave(c)
		}
	}
	stay := 0
	g.keep(func(c *compartment) bool {
		if next.byKey[c.key] != nil {
			return false
		}
		if stay++; stay > next.conf.MaxKeys {
			g.leave(c)
			return false
		}
		return true
	})
	s.seeOff(len(g.leaving))
	return next, slices.Clone(g.ring), nil
}

// newcomer opens a compartment that has no reserve yet: others may have to give theirs
// up first.
func (s *Set) newcomer(key string, k Compartment) (*compartment, error) {
	c, err := s.open(key, k, weir.Stake{Share: k.Share})
	if err == nil && s.guests.closed {
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

// leave has newcomers go elsewhere.
func (g *guests) leave(c *compartment) {
	c.shut()
	g.leaving = append(g.leaving, c)
}

// unreserve lowers the reserves that shrink before any grows and before the cap moves, so
// that at no time there are more than the cap holds.
func (s *Set) unreserve(old, next *roster) {
	if s.group == nil {
		return
	}
	for key, c := range old.byKey {
		s.group.Unreserve(c.limiter, next.conf.ByKey[key].Reserved)
	}
}

// retune gives every compartment its new settings.
func (s *Set) retune(next *roster, strangers []*compartment) error {
	var failed []error
	for key, c := range next.byKey {
		failed = append(failed, s.apply(c, next.conf.ByKey[key]))
	}
	for _, c := range strangers {
		if c.enter() {
			failed = append(failed, s.apply(c, next.conf.Default))
			c.leave()
		}
	}
	return errors.Join(failed...)
}

func (s *Set) apply(c *compartment, k Compartment) error {
	switch {
	case k.Breaker == nil:
		c.breaker = nil
	case c.breaker == nil:
		c.breaker = k.newBreaker(c.key)
	}
	settings := k.settings(c.key, c.breaker)
	if s.group == nil {
		return c.limiter.Update(settings)
	}
	return s.group.Update(c.limiter, settings, k.stake())
}
