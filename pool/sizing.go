package pool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/capacity"
)

type sizing struct {
	resource string
	in       *capacity.Capacity
	sizer    Sizer
	plan     Plan
	before   int64 // withheld before the run
	size     int64
	due      time.Duration
	laws     []*lawSizer
	over     atomic.Bool // the former amount is withheld again
}

func newSizings(c Config) (all []*sizing, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Scalers)) {
		usage := c.Capacity.Resource(name)
		s := &sizing{resource: name, in: c.Capacity, before: usage.Limit - given(usage)}
		limit := usage.Limit - s.before
		if s.sizer, err = c.Scalers[name].Sizer(limit); err != nil {
			return nil, err
		}
		if s.sizer == nil {
			return nil, fmt.Errorf("%w: the Scaler of %q returned no Sizer and no error: want one", ErrConfig, name)
		}
		if s.plan = s.sizer.Plan(); !s.plan.fits(limit) {
			return nil, fmt.Errorf("%w: the Plan of %q is %+v: "+
				"want a Period above 0 and 0 <= Min <= Initial <= Max <= the limit, which is %d",
				ErrConfig, name, s.plan, limit)
		}
		s.plan.Period = max(s.plan.Period, leastPeriod)
		s.size, s.laws = s.plan.Initial, lawsOf(s.sizer)
		all = append(all, s)
	}
	return all, nil
}

// given is how much of a resource is not withheld.
func given(u capacity.ResourceSnapshot) int64 { return u.InUse + u.Available - u.Owed }

func (p Plan) fits(limit int64) bool {
	return p.Period > 0 && 0 <= p.Min && p.Min <= p.Initial && p.Initial <= p.Max && p.Max <= limit
}

// leastPeriod keeps a scaler from taking a processor for itself: a decision takes some
// microseconds.
const leastPeriod = time.Millisecond

// apply withholds the resource above the size.
func (s *sizing) apply(size int64) {
	if s.over.Load() {
		return
	}
	s.size = size
	s.hold(func(limit int64) int64 { return max(s.before, limit-size) })
	if s.over.Load() { // restore may have come in between
		s.restore()
	}
}

// restore restores the amount withheld before the run, for good.
func (s *sizing) restore() {
	s.over.Store(true)
	s.hold(func(int64) int64 { return s.before })
}

// hold withholds by the limit, which somebody else may lower at any moment.
func (s *sizing) hold(withheld func(limit int64) int64) {
	for {
		limit := s.in.Resource(s.resource).Limit
		err := s.in.Withhold(s.resource, min(withheld(limit), limit))
		if err == nil || !errors.Is(err, capacity.ErrConfig) {
			return
		}
	}
}

// next asks the sizer. One that panics or ends its goroutine holds the size.
func (s *sizing) next(r Observation) (size int64, why Reason, err error) {
	if err = isolated(func() { size, why = s.sizer.Next(r) }); err != nil {
		return r.Size, Reason{Code: Unknown, Signal: "size"}, fmt.Errorf("%w: %q: %w", ErrScaler, s.resource, err)
	}
	for _, l := range s.laws {
		if err == nil {
			err = l.failure()
		}
	}
	return min(max(size, s.plan.Min), s.plan.Max), why, err
}
