package bulkhead

import (
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/wire"
)

// A Snapshot is a set's state. The keys are read one after the other, so that sums may
// be off by work that came and went meanwhile.
type Snapshot struct {
	Max     int    `json:"max"`      // the cap now, see [Set.SetMax]; 0 without one
	MaxKeys int    `json:"max_keys"` // Config.MaxKeys
	Unknown int    `json:"unknown"`  // compartments of keys that the configuration does not name
	Leaving int    `json:"leaving"`  // compartments whose key an update took away and whose work is not done
	Evicted uint64 `json:"evicted"`  // compartments of unknown keys that gave way to others

	// Total has the figures of all keys as if they were one limiter: sums of the counts, and
	// quantiles over all latencies. It includes removed keys. Limit is the sum of the limits, which
	// may be above Max.
	Total weir.Snapshot `json:"total"`

	// ByKey has a snapshot of every compartment, under its key, and of [Overflow] once work has
	// come to it. Borrowed and Entitled show which keys run more than their part of the cap.
	ByKey map[string]weir.Snapshot `json:"by_key"`
}

// Snapshot returns the set's state now. Reading changes nothing. For each key it takes a few
// microseconds, and holds up work for a small part of a microsecond.
func (s *Set) Snapshot() Snapshot {
	snap, compartments, present := s.survey()
	snap.ByKey = make(map[string]weir.Snapshot, present)
	all := make([]*weir.Limiter, len(compartments))
	for i, c := range compartments {
		all[i] = c.limiter
	}
	past := snap.Total
	snap.Total = limiters.Sum(all, func(i int, s *weir.Snapshot) {
		if i < present {
			snap.ByKey[compartments[i].key] = *s
		}
	})
	limiters.AddTotals(&snap.Total, past)
	return snap
}

// String returns the snapshot as JSON, which makes a Set an expvar.Var.
func (s *Set) String() string { return wire.String(s.Snapshot()) }

// survey returns the compartments, the present ones before the leaving ones, and the totals of
// removed compartments. It leaves out an overflow that no work has come to.
func (s *Set) survey() (snap Snapshot, compartments []*compartment, present int) {
	d := &s.dynamic
	d.mu.Lock()
	defer d.mu.Unlock()
	s.reap(len(d.leaving)) // there may be no later call to do so
	t := s.table.Load()
	compartments = slices.DeleteFunc(s.all(), func(c *compartment) bool { return c.key == Overflow && !c.used.Load() })
	present = len(compartments) - len(d.leaving)
	snap = Snapshot{
		Max: s.group.max(), MaxKeys: t.conf.MaxKeys,
		Unknown: len(d.ring), Leaving: len(d.leaving), Evicted: d.evicted,
	}
	limiters.AddTotals(&snap.Total, d.past)
	return snap, compartments, present
}
