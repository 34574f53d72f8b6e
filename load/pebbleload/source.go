package pebbleload

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/weir-go/weir/load"
)

// ErrClosed is the error of Poll once the store is closed.
var ErrClosed = errors.New("pebbleload: the store is closed")

// aim is the share of the stall threshold that level 0 is held at.
const aim = 0.6

// A Source measures one store. It is a [load.Source].
type Source struct {
	// DebtLimit is the compaction debt, in bytes, at which the store counts as
	// loaded. 0 means that the debt bounds nothing.
	DebtLimit uint64

	db        *pebble.DB
	memtables float64 // bytes at which writes stop
	sublevels float64 // at which writes stop
	target    float64 // sublevels to hold
	found     float64 // sublevels that there were when the store was opened
	stalls    stalls
}

// Open opens a store and returns it with its source. It is [pebble.Open] with one
// more listener for events, so that the source knows of write stalls.
func Open(dir string, options *pebble.Options) (*pebble.DB, *Source, error) {
	options = options.Clone()
	options.EnsureDefaults()
	s := newSource(options)
	listener := pebble.TeeEventListener(*options.EventListener, s.stalls.listener())
	options.EventListener = &listener
	db, err := pebble.Open(dir, options)
	if err != nil {
		return nil, nil, fmt.Errorf("pebbleload: %w", err)
	}
	s.db = db
	level0 := &db.Metrics().Levels[0]
	s.found = float64(level0.Sublevels) - arrived(level0)
	return db, s, nil
}

// newSource takes the thresholds from complete options.
func newSource(o *pebble.Options) *Source {
	return &Source{
		memtables: float64(o.MemTableStopWritesThreshold) * float64(o.MemTableSize),
		sublevels: float64(o.L0StopWritesThreshold),
		target:    aim * float64(o.L0StopWritesThreshold),
		stalls:    stalls{asked: time.Now()},
	}
}

// Name implements [load.Source].
func (*Source) Name() string { return "pebble" }

// String returns the name.
func (s *Source) String() string { return s.Name() }

// TellsDrain implements [load.Drainer].
func (*Source) TellsDrain() bool { return true }

// Poll implements [load.Source]. It returns [ErrClosed] once the store is closed.
func (s *Source) Poll(context.Context) (load.Sample, error) {
	if closed(s.db) {
		return load.Sample{}, ErrClosed
	}
	m := s.db.Metrics()
	level0 := &m.Levels[0]
	debtLimit := math.Inf(1)
	if s.DebtLimit > 0 {
		debtLimit = float64(s.DebtLimit)
	}
	return load.Sample{
		Readings: []load.Reading{
			{Name: "memtables", Value: float64(m.MemTable.Size), Limit: s.memtables, Unit: load.Bytes, Scope: load.Writes},
			{Name: "level-0 sublevels", Value: float64(level0.Sublevels), Limit: s.sublevels, Scope: load.Writes},
			{Name: "write stall", Value: s.stalls.share(time.Now()), Limit: 1, Unit: load.Share, Scope: load.Writes},
			{Name: "read amplification", Value: float64(m.ReadAmp()), Limit: math.Inf(1), Scope: load.Reads},
			{Name: "compaction debt", Value: float64(m.Compact.EstimatedDebt), Limit: debtLimit, Unit: load.Bytes, Scope: load.Writes},
		},
		Drain: &load.Drain{
			Drained: max(s.found+arrived(level0)-float64(level0.Sublevels), 0),
			Backlog: float64(level0.Sublevels),
			Target:  s.target,
			Limit:   s.sublevels - 1, // a table more is always about to arrive
		},
	}, nil
}

// arrived is how many tables have come into a level from outside the tree since the store was
// opened. One that overlaps no other makes no sublevel, and counts as digested at once.
func arrived(level *pebble.LevelMetrics) float64 {
	return float64(level.TablesFlushed) + float64(level.TablesIngested)
}

// closed reports whether the store is closed: it panics then on whatever it is
// asked to do, but has no method to ask for that, and its metrics go on as if nothing
// had happened. A compaction of no keys is refused before it does anything.
func closed(db *pebble.DB) (closed bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			if closed = errors.Is(r, pebble.ErrClosed); !closed {
				panic(r)
			}
		default:
			panic(r)
		}
	}()
	_ = db.Compact(context.Background(), nil, nil, false)
	return false
}
