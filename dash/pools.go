package dash

import (
	"fmt"
	"math"
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/pool"
)

// poolReading returns the state of a pool in the form of a limiter's state, by the last decision on
// its first resource. Without a scaler the size of the pool is the number of its running tasks.
func poolReading(s pool.Snapshot) *weir.Snapshot {
	ended := s.Completed + s.Failed
	snap := &weir.Snapshot{
		Limit: s.Running, InFlight: s.Running, Queued: s.Ready + s.Blocked,
		Admitted: ended + uint64(s.Running), Completed: ended,
	}
	if len(s.Decisions) == 0 {
		return snap
	}
	d := s.Decisions[0]
	count := func(n int64) int { return int(min(max(n, 0), math.MaxInt32)) }
	snap.Limit, snap.Resting, snap.Queued = count(d.To), count(d.Most-d.To), count(d.Backlog.Count)
	snap.Decision = d.Reason.Law
	return snap
}

// resized returns the decisions that changed the first resource of a pool, up to a snapshot. The
// history was read after the snapshot, and may have lost the last decision of the snapshot.
func resized(s pool.Snapshot, history []pool.Decision) []pool.Decision {
	if len(s.Decisions) == 0 {
		return nil
	}
	last := s.Decisions[0]
	moves := slices.DeleteFunc(history, func(d pool.Decision) bool {
		return d.Resource != last.Resource || !d.At.Before(last.At)
	})
	if last.From != last.To {
		moves = append(moves, last)
	}
	return moves
}

// decided gives a change of a pool's size the reason of the last decision that moved it since the
// reading before. Without such a decision it drops the change.
func (s *series) decided(moves []pool.Decision) {
	s.pool = true
	since := s.moved
	if len(moves) > 0 {
		s.moved = moves[len(moves)-1].At
	}
	if !s.changed {
		return
	}
	moves = slices.DeleteFunc(moves, func(d pool.Decision) bool { return !d.At.After(since) })
	last := len(s.changes) - 1
	if len(moves) == 0 {
		s.changes, s.changed = s.changes[:last], false
		return
	}
	d, c := moves[len(moves)-1], &s.changes[last]
	d.From = int64(s.before.Limit)
	c.Why, c.Text = d.Reason.String(), d.String()
	if len(moves) > 1 {
		c.Text += " (in several changes, the last for this reason)"
	}
}

// poolTable has the tasks of a pool by state, and the sizes of its resources.
func poolTable(name string, s pool.Snapshot) Table {
	rows := [][2]string{
		{"running", fmt.Sprint(s.Running)},
		{"ready", fmt.Sprint(s.Ready)},
		{"blocked", fmt.Sprint(s.Blocked)},
		{"completed", fmt.Sprint(s.Completed)},
		{"failed", fmt.Sprint(s.Failed)},
	}
	for _, d := range s.Decisions {
		rows = append(rows, [2]string{d.Resource, fmt.Sprintf("%d of %d: %v", d.To, d.Most, d.Reason)})
	}
	return Table{name, rows}
}
