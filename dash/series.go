package dash

import (
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/law"
)

const (
	mostPoints  = int(time.Hour / every)
	mostChanges = 500 // of the limit
)

type series struct {
	points  []recording.Point
	changes []recording.Change
	heat    heat
	belief  recording.Belief
	last    *weir.Snapshot
	before  *weir.Snapshot // the reading before the last one; nil if there is none
	changed bool           // the limit has changed at the last reading
	pool    bool           // the series of a pool
	tenant  bool           // only viewers with the token may see it
	moved   time.Time      // the last change of a pool's size
	heated  bool           // the last reading added a column to the heat map
	at      time.Time      // of the last reading
	between float64        // seconds between the last two readings
}

func (s *series) add(now time.Time, snap *weir.Snapshot) {
	s.before, s.last = s.last, snap
	s.at, s.between = now, now.Sub(s.at).Seconds()
	arrived := func(snap weir.Snapshot) uint64 { return snap.Admitted + snap.RefusedTotal() + snap.Cancelled }
	completed := func(snap weir.Snapshot) uint64 { return snap.Completed }
	s.points = append(s.points, recording.Point{
		At:    now.UnixMilli(),
		Limit: int32(snap.Limit), InFlight: int32(snap.InFlight), Queued: int32(snap.Queued), Resting: int32(snap.Resting),
		P50: float32(snap.P50.Seconds() * 1000), P95: float32(snap.P95.Seconds() * 1000),
		Arrived: float32(s.rate(arrived)), Completed: float32(s.rate(completed)), Refused: float32(s.rate(weir.Snapshot.RefusedTotal)),
	})
	s.points = newest(s.points, mostPoints)
	s.heated = s.heat.add(now, snap.Latencies)
	if s.replaced() {
		s.belief = recording.Belief{}
	}
	for _, reason := range s.reasons() {
		s.belief = believe(s.belief, now, reason)
	}
	c, changed := s.change(now)
	if s.changed = changed; changed {
		s.changes = newest(append(s.changes, c), mostChanges)
	}
}

// reasons returns the law's reasons since the reading before: for the last change of the
// limit, which may have been followed by decisions to hold it, and for the last decision.
func (s *series) reasons() (given []law.Reason) {
	if s.before != nil && s.before.Last != s.last.Last {
		given = append(given, s.last.Last)
	}
	if s.before == nil || s.before.Decision != s.last.Decision {
		given = append(given, s.last.Decision)
	}
	return given
}

// replaced reports whether the limiter has another law since the reading before, or the name has
// another limiter.
func (s *series) replaced() bool {
	switch {
	case s.before == nil:
		return false
	case s.last.Completed < s.before.Completed:
		return true
	}
	return s.last.Last.Code == law.Configured && s.before.Last.Code != law.Configured
}

// newest drops the oldest elements if there are more than most. It then drops a tenth at once, so
// that it seldom has to copy.
func newest[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	return append(all[:0], all[len(all)-most*9/10:]...)
}

// rate returns the growth of a counter a second, between the last two readings.
func (s *series) rate(count func(weir.Snapshot) uint64) float64 {
	if s.before == nil {
		return 0
	}
	now, before := count(*s.last), count(*s.before)
	if now < before { // another limiter of that name
		return 0
	}
	return float64(now-before) / s.between
}

// change returns the change of the limit between the last two readings, if it has changed.
func (s *series) change(now time.Time) (c recording.Change, changed bool) {
	if s.before == nil || s.before.Limit == s.last.Limit {
		return c, false
	}
	from, to := s.before.Limit, s.last.Limit
	c = recording.Change{At: now.UnixMilli(), To: to, Up: to > from}
	moves := s.last.Raised + s.last.Cut - s.before.Raised - s.before.Cut
	if moves == 0 {
		c.Why = "the cap moved"
		c.Text = fmt.Sprintf("%s: %d to %d", c.Why, from, to)
		return c, true
	}
	c.Why = s.last.Last.String()
	c.Text = law.Explain(s.last.Last, from, to)
	if moves > 1 {
		c.Text += fmt.Sprintf(" (in %d changes, the last for this reason)", moves)
	}
	return c, true
}
