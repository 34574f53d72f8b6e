// Package pebbleload measures the load of a Pebble store, as a source for [load].
//
//	db, source, err := pebbleload.Open(dir, options)
//	mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: source}}})
//
// # What it measures
//
// Pebble stops writes for one of two reasons: memtables that are not flushed yet
// take up too much, or level 0 has too many sublevels, each of which a read has to
// look into. In a storm the first is by far the more frequent, so that one signal
// is not enough. The readings, with the thresholds from the store's own options:
//
//	memtables           bytes over MemTableStopWritesThreshold * MemTableSize; writes
//	level-0 sublevels   over L0StopWritesThreshold; writes
//	write stall         the share of the time since the last poll in which writes
//	                    were stopped; writes
//	read amplification  tables that a read may have to look into; bounds nothing
//	compaction debt     bytes to compact until the tree is in shape; bounds nothing,
//	                    unless [Source].DebtLimit says so; writes
//
// The [load.Drain] counts tables: the sublevels are the backlog, and what was flushed and is no
// sublevel is drained. The target is 0.6 of the number at which writes stop and the limit one less
// than that number, for one is always about to arrive. It says nothing of memtables: a stall that
// lasts until a flush ends is shorter.
//
// # Cost
//
// [pebble.DB.Metrics] takes the store's lock. It is called here, once a poll, and
// never on the path of requests.
package pebbleload
