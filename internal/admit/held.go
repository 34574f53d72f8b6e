package admit

import "github.com/weir-go/weir/law"

// What is held are the slots of work that was measured and has not ended. A law finds its limit for measured
// work, so what is held comes on top of that, and the limit moves with it at once: at the next decision would be too
// late, because without free slots nothing is measured. No change is recorded, for the law changed nothing.

// hold books that so much more is held, while the limit may move so far.
func (s *slots) hold(more int64, r reach) { s.setHeld(s.held()+more, r) }

func (s *slots) setHeld(weight int64, r reach) {
	limit := int64(s.limit) + weight - s.held()
	s.limit = int32(min(max(limit, int64(r.least)), int64(r.most)))
	s.contended().coldPart().held = weight
	s.flags.set(holding, weight > 0)
	s.meter.SetBeside(int(weight))
}

// reach is how far a limit may move.
type reach struct{ least, most int32 }

// reach is how far the limit may move with what is held: not at all if it was not found by measuring.
func (c *conf) reach(decided reason, limit int32) reach {
	if decided.code == law.Pinned {
		return reach{limit, limit}
	}
	return reach{c.min, c.max}
}

// beside is what a decision leaves out of so much that is held.
func (r reason) beside(held int64) int {
	if r.code == law.Pinned {
		return 0
	}
	return int(held)
}
