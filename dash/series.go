package dash

import (
	"fmt"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

const (
	mostPoints  = int(time.Hour / every)
	mostChanges = 500 // of the limit
)

// A point is one reading, in the order of the charts.
type point struct {
	at                      int64 // in milliseconds of Unix time
	limit, inFlight, queued int32
	p95                     float32 // in milliseconds
	refused                 float32 // a second
}

// A change is one of the limit, in words. Between two readings there may be several; they count as
// one with the last reason.
type change struct {
	At   int64  `json:"at"`
	To   int    `json:"to"`
	Up   bool   `json:"up"`
	Why  string `json:"why"`
	Text string `json:"text"`
}

// A series is what has been read of one limiter.
type series struct {
	points  []point
	changes []change
	last    *weir.Snapshot
	before  *weir.Snapshot // the reading before the last one; nil if there is none
	changed bool           // at the last reading
	at      time.Time      // of the last reading
	between float64        // the seconds between these two
}

// add adds a reading.
func (s *series) add(now time.Time, snap *weir.Snapshot) {
	s.before, s.last = s.last, snap
	s.at, s.between = now, now.Sub(s.at).Seconds()
	s.points = append(s.points, point{
		at: now.UnixMilli(), limit: int32(snap.Limit), inFlight: int32(snap.InFlight), queued: int32(snap.Queued),
		p95: float32(snap.P95.Seconds() * 1000), refused: float32(s.rate(weir.Snapshot.RefusedTotal)),
	})
	s.points = newest(s.points, mostPoints)
	c, changed := s.change(now)
	if s.changed = changed; changed {
		s.changes = newest(append(s.changes, c), mostChanges)
	}
}

// newest drops the oldest elements beyond a number, some at a time.
func newest[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	return append(all[:0], all[len(all)-most*9/10:]...)
}

// rate is the growth of a counter between the last two readings, a second.
func (s *series) rate(count func(weir.Snapshot) uint64) float64 {
	if s.before == nil {
		return 0
	}
	now, before := count(*s.last), count(*s.before)
	if now < before || s.between <= 0 { // another limiter of that name, or the clock was turned back
		return 0
	}
	return float64(now-before) / s.between
}

// change is the change of the limit between the last two readings.
func (s *series) change(now time.Time) (c change, changed bool) {
	if s.before == nil || s.before.Limit == s.last.Limit {
		return change{}, false
	}
	from, to := s.before.Limit, s.last.Limit
	c = change{At: now.UnixMilli(), To: to, Up: to > from}
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
