package badgerload

import (
	"context"
	"errors"
	"math"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2"

	"github.com/weir-go/weir/load"
)

// ErrClosed is the error of Poll once the store is closed.
var ErrClosed = errors.New("badgerload: the store is closed")

// aim is the share of the stall threshold that level 0 is held at.
const aim = 0.6

// A Source measures one store. It is a [load.Source].
type Source struct {
	db *badger.DB

	// drain counts the tables that compactions took from level 0.
	drain drain
}

// New returns the source of a store. It does not take over the store, whose owner closes it.
func New(db *badger.DB) *Source { return &Source{db: db} }

// Name implements [load.Source].
func (*Source) Name() string { return "badger" }

// TellsDrain implements [load.Drainer].
func (*Source) TellsDrain() bool { return true }

// Poll implements [load.Source]. It returns [ErrClosed] once the store is closed.
func (s *Source) Poll(context.Context) (load.Sample, error) {
	if s.db.IsClosed() {
		return load.Sample{}, ErrClosed
	}
	options := s.db.Opts()
	levels := s.db.Levels()
	tables := levels[0].NumTables
	stall := float64(options.NumLevelZeroTablesStall)

	readings := []load.Reading{
		{Name: "level-0 tables", Value: float64(tables), Limit: stall, Scope: load.Writes},
		{Name: "compaction score", Value: worstScore(levels), Limit: math.Inf(1), Scope: load.Writes},
	}
	readings = append(readings, s.sizes()...)
	readings = appendCache(readings, "block cache misses", s.db.BlockCacheMetrics())
	readings = appendCache(readings, "index cache misses", s.db.IndexCacheMetrics())
	return load.Sample{Readings: readings, Drain: &load.Drain{
		Drained: s.drain.observe(tables),
		Backlog: float64(tables),
		Target:  aim * stall,
		Limit:   stall - 1, // a table more is always about to arrive
	}}, nil
}

// worstScore leaves out level 0, whose score is the number of its tables again.
func worstScore(levels []badger.LevelInfo) (worst float64) {
	for _, level := range levels[1:] {
		worst = max(worst, level.Score)
	}
	return worst
}

func (s *Source) sizes() []load.Reading {
	tree, log := s.db.Size()
	return []load.Reading{
		{Name: "tree", Value: float64(tree), Limit: math.Inf(1), Unit: load.Bytes},
		{Name: "value log", Value: float64(log), Limit: math.Inf(1), Unit: load.Bytes},
	}
}

// appendCache appends the reading of a cache, if the store has that cache and counts its misses.
func appendCache(readings []load.Reading, name string, m *ristretto.Metrics) []load.Reading {
	if m == nil {
		return readings
	}
	return append(readings, load.Reading{
		Name: name, Value: 1 - m.Ratio(), Limit: math.Inf(1), Unit: load.Share, Scope: load.Reads,
	})
}

// drain counts the tables that left level 0, by the number of tables at each poll. A flush between
// two polls hides a table that left. With several polls for each flush that is rare, and it makes
// the count too small, never too large.
type drain struct {
	before  int
	drained float64
}

func (d *drain) observe(tables int) float64 {
	d.drained += float64(max(d.before-tables, 0))
	d.before = tables
	return d.drained
}
