package admit

import "github.com/weir-go/weir/law"

// Slots are held by work that was measured and has not ended. A law finds its limit for measured
// work, so the held slots come on top of that limit, and the limit moves with them at once: the
// next decision would be too late, because without free slots no work is measured. No change is
// recorded, because the law changed nothing.
//
// The law's limit and the held slots together may exceed Max. The limit then leaves out the excess,
// and the law sees its limit without the excess. Unless the law cuts that limit, it gets the excess
// back once fewer slots are held.

// hold adds to the held slots. The limit may move within r.
func (s *slots) hold(more int64, r reach) { s.setHeld(s.held()+more, r) }

func (s *slots) setHeld(weight int64, r reach) {
	c := s.contended().coldPart()
	limit := int64(s.limit) + c.excess + weight - s.held()
	s.limit = int32(min(max(limit, int64(r.least)), int64(r.most)))
	c.held, c.excess = weight, max(0, limit-int64(s.limit))
	s.flags.set(holding, weight > 0)
	s.meter.SetBeside(int(weight))
}

// reach has the bounds within which a limit may move.
type reach struct{ least, most int32 }

// reach returns the bounds within which the limit may move with the held slots. The limit may not
// move if no measurement found it.
func (c *conf) reach(decided reason, limit int32) reach {
	if decided.code == law.Pinned {
		return reach{limit, limit}
	}
	return reach{c.min, c.max}
}

// beside is the held weight that comes on top of a decision's limit: none for a limit that is
// pinned.
func (r reason) beside(held int64) int {
	if r.code == law.Pinned {
		return 0
	}
	return int(held)
}

// found is the limit that the law last decided. A Change counts in these units.
func (s *slots) found(decided reason) int32 {
	if s.flags&holding == 0 || decided.code == law.Pinned {
		return s.limit
	}
	c := s.contention.cold
	return int32(int64(s.limit) + c.excess - c.held)
}

// above is the found limit plus the held slots, at most most, and the excess over most.
func (s *slots) above(found int32, decided reason, most int32) (limit int32, excess int64) {
	sum := int64(found) + int64(decided.beside(s.held()))
	limit = int32(min(sum, int64(most)))
	return limit, sum - int64(limit)
}

// setFound sets the limit to found plus the held slots.
func (s *slots) setFound(found int32, decided reason, most int32) {
	limit, excess := s.above(found, decided, most)
	s.limit = limit
	if s.flags&holding != 0 {
		s.contention.cold.excess = excess
	}
}
