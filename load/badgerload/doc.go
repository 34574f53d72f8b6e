// Package badgerload measures the load of a Badger store, as a source for [load].
//
//	mon, err := load.New(load.Config{Sources: []load.Source{badgerload.New(db)}})
//
// # Measurements
//
// Badger writes to a memtable, flushes that to a table of level 0, and compacts level 0 into the
// level below. When level 0 holds [badger.Options.NumLevelZeroTablesStall] tables, flushes wait,
// then memtables fill up, then every write waits until a compaction ends: that is the stall, and
// the number of tables over that threshold is the reading that foresees it best. It concerns
// writes.
//
// The readings, each with the threshold from the store's own options:
//
//	level-0 tables     their number, over the stall threshold; writes
//	compaction score   the worst of the other levels, see below; bounds nothing; writes
//	tree, value log    their size, as Badger last counted, once a minute; bounds nothing
//	block cache misses as a share of its reads; bounds nothing; reads
//	index cache misses the same
//
// A score is the ratio of a level's size to its target. Badger reports scores from 1 on, and 0 for
// lower scores, so the reading is 0 as long as all is well. It never reports a score for the last
// level. The score is a symptom: in storms it was 2.5 while level 0 held 11 tables of 15.
//
// The [load.Drain] counts tables: level 0 holds the backlog, and the tables that compactions took
// from it are drained. The target is 0.6 of the stall threshold. The limit is a table less than
// that threshold, because a table is always about to arrive.
//
// # Blind spots
//
// Badger does not publish the number of memtables that wait for a flush. The age of the oldest
// operation in flight, a symptom that a throttle uses, shows such waits.
//
// # Cost
//
// [badger.DB.Levels] takes locks that compactions hold too: a microsecond on an
// idle store, 0.3 ms on average and up to 0.1 s in a storm. So it is called here,
// once a poll, and never on the path of requests.
package badgerload
