package bulkhead

import (
	"cmp"
	"context"
)

// Full says whether to refuse work of the key before any of it is read, as [weir.Limiter.Full]
// does: an error is a refusal that was counted, and nil promises nothing. A full cap refuses like a
// full limit.
//
// Full makes no compartment. If the key has none and would get one, Full returns nil whatever the
// cap says, because there is no limiter yet to count a refusal. A bad key, an unknown key of a
// closed set, and work that the overflow has no room for is refused.
func (s *Set) Full(ctx context.Context, key string) error {
	c, err := s.find(key)
	if c == nil {
		return err
	}
	defer c.leave()
	return c.limiter.Full(ctx)
}

// Full is [Set.Full] for the handle's key.
func (h *Handle) Full(ctx context.Context) error {
	c, err := h.lookUp((*Set).find)
	if c == nil {
		return err
	}
	defer c.leave()
	return c.limiter.Full(ctx)
}

// find is enter, but nil for a key that enter would make a compartment for.
func (s *Set) find(key string) (*compartment, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	for {
		c, err := s.existing(key)
		if c == nil {
			return nil, err
		}
		c.touch()
		if c.enter() {
			return c, nil
		}
	}
}

// existing returns the compartment that work of the key would be admitted by now, nil if it had to
// be made.
func (s *Set) existing(key string) (*compartment, error) {
	if c := s.table.Load().byKey[key]; c != nil {
		return c, nil
	}
	d := &s.dynamic
	d.mu.RLock()
	defer d.mu.RUnlock()
	t := s.table.Load()
	switch c := cmp.Or(t.byKey[key], d.byKey[key]); {
	case c != nil:
		return c, nil
	case d.closed:
		return nil, closedTo(key)
	case !d.hasRoom(t.conf.MaxKeys):
		return t.byKey[Overflow], nil
	}
	return nil, nil
}
