package bulkhead

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Close refuses all that waits and all that arrives from now on, for any key, with
// [weir.ErrClosed]. Running work is left alone, and its permits can be given back as ever.
func (s *Set) Close() {
	each(s.closing(), func(c *compartment) { c.limiter.Close() })
}

// Shutdown refuses all arrivals from now on and waits until all waiting and running work is done.
// If ctx ends first it closes the set and returns an error that matches context.Cause(ctx). A nil
// ctx counts as context.Background.
func (s *Set) Shutdown(ctx context.Context) error {
	all := s.closing()
	each(all, func(c *compartment) { c.limiter.Drain() })
	for _, c := range all {
		if err := c.limiter.Shutdown(ctx); err != nil {
			s.Close()
			return fmt.Errorf("bulkhead: shutdown: %w", err)
		}
	}
	return nil
}

// closing lets no key get a compartment any more and returns those there are.
func (s *Set) closing() []*compartment {
	s.updating.Lock()
	defer s.updating.Unlock()
	s.dynamic.mu.Lock()
	defer s.dynamic.mu.Unlock()
	s.dynamic.closed = true
	return s.all()
}

// all returns every compartment, the leaving ones last. The caller holds
// dynamic.mu.
func (s *Set) all() []*compartment {
	named := s.table.Load().byKey
	all := make([]*compartment, 0, len(named)+len(s.dynamic.ring)+len(s.dynamic.leaving))
	all = slices.AppendSeq(all, maps.Values(named))
	all = append(all, s.dynamic.ring...)
	return append(all, s.dynamic.leaving...)
}
