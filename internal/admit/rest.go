package admit

import (
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Slots rest after work that the downstream refused, for as long as the law plans. A refusal comes
// at once, so that a slot without rest sends many times the work of other slots, and nearly all of
// this work is refused. The law sees neither the resting slots nor their time.

// rests has the slots that rest, ordered by the end of their rest.
type rests struct {
	list   []rest
	weight int64
}

type rest struct {
	until  int64
	weight int32
}

func (r *rests) next() int64 { return r.list[0].until }

// planRest sets how long slots rest from now on, counted from the start of their work.
func (s *slots) planRest(d time.Duration) {
	if d > 0 || s.contention != nil && s.contention.cold != nil {
		s.contended().coldPart().rest = max(d, 0)
	}
}

// letRest lets the slots of work rest that has ended, if the downstream refused it.
func (s *slots) letRest(r *reply.Record, now int64, o window.Outcome) {
	if o != window.Overloaded || s.contention == nil || s.contention.cold == nil {
		return
	}
	c := s.contention.cold
	until := r.Start + int64(c.rest)
	if until <= now {
		return
	}
	if n := len(c.rests.list); n > 0 {
		until = max(until, c.rests.list[n-1].until) // an earlier plan was longer
	}
	c.rests.list = append(c.rests.list, rest{until, r.Weight})
	c.rests.weight += int64(r.Weight)
	s.flags.set(resting, true)
}

func (s *slots) endRests(now int64) {
	r := &s.contention.cold.rests
	for len(r.list) > 0 && r.next() <= now {
		r.weight -= int64(r.list[0].weight)
		r.list = r.list[1:]
	}
	if len(r.list) == 0 {
		r.list = nil
		s.flags.set(resting, false)
	}
}

func (s *slots) resting() int64 {
	if s.flags&resting == 0 {
		return 0
	}
	return s.contention.cold.rests.weight
}

// restingAt is resting for a reader: a node that is not called ends no rest.
func (s *slots) restingAt(now int64) int64 {
	weight := s.resting()
	if weight == 0 {
		return 0
	}
	for _, rest := range s.contention.cold.rests.list {
		if rest.until <= now {
			weight -= int64(rest.weight)
		}
	}
	return weight
}
