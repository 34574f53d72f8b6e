package admit

import "github.com/weir-go/weir/law"

// Held slots belong to work that was measured and has not ended. A law finds its limit for
// measured work, so held slots come on top, and the limit moves with it at once: at the
// next decision would be too late, because without free slots nothing is measured. No change is
// recorded, for the law changed nothing.
//
// The law's limit and the held slots may exceed Max together. The limit then leaves out the
// excess, and the law sees the rest. Unless it cuts that, it has its limit back once
// less is held.

// hold books that so much more is held, while the limit may move so far.
func (s *slots) hold(more int64, r reach) { s.setHeld(s.held()+more, r) }

func (s *slots) setHeld(weight int64, r reach) {
	c := s.contended().coldPart()
	limit := int64(s.limit) + c.excess + weight - s.held()
	s.limit = int32(min(max(limit, int64(r.least)), int64(r.most)))
	c.held, c.excess = weight, max(0, limit-int64(s.limit))
	s.flags.set(holding, weight > 0)
	s.meter.SetBeside(int(weight))
}

// reach is how far a limit may move.
type reach struct{ least, most int32 }

// reach is how far the limit may move with the held slots: not at all if it was not found by
// measuring.
func (c *conf) reach(decided reason, limit int32) reach {
	if decided.code == law.Pinned {
		return reach{limit, limit}
	}
	return reach{c.min, c.max}
}

// beside is the part of the held slots that a decision leaves out.
func (r reason) beside(held int64) int {
	if r.code == law.Pinned {
		return 0
	}
	return int(held)
}

// found is the limit of the law's last decision, which a Change counts.
func (s *slots) found(decided reason) int32 {
	if s.flags&holding == 0 || decided.code == law.Pinned {
		return s.limit
	}
	c := s.contention.cold
	return int32(int64(s.limit) + c.excess - c.held)
}

// above is the law's limit with the held slots on top, as far as most has room, and
// the excess.
func (s *slots) above(found int32, decided reason, most int32) (limit int32, excess int64) {
	sum := int64(found) + int64(decided.beside(s.held()))
	limit = int32(min(sum, int64(most)))
	return limit, sum - int64(limit)
}

// setFound sets the limit from the law's limit.
func (s *slots) setFound(found int32, decided reason, most int32) {
	limit, excess := s.above(found, decided, most)
	s.limit = limit
	if s.flags&holding != 0 {
		s.contention.cold.excess = excess
	}
}
