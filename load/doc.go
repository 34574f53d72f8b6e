// Package load measures how close a system is to its limit, by signals outside the path of
// requests: a store's backlog, memory, the CPU, the waits of a database.
//
// A [Source] measures one system. A [Monitor] polls its sources and keeps their last answers. Each
// source has its own goroutine, so that a database that hangs does not delay the reading of the
// memory:
//
//	mon, err := load.New(load.Config{Sources: []load.Source{
//		badgerload.New(db),
//		&load.Memory{Target: 1500 << 20},
//	}})
//	...
//	go mon.Run(ctx)
//	mon.Level(load.Writes) // 0 idle, 1 at the limit of the resource nearest to its own
//
// # Mathematics
//
// A [Reading] has a value and the limit at which its system stalls or fails; its load is
//
//	value / limit
//
// so that signals in bytes, tables and seconds are comparable. The load of several readings is
// their maximum, the worst bottleneck: a store that stalls is not half as bad because the heap is
// half empty. A weighted sum would hide a single bottleneck.
//
// # Age
//
// A reading is valid for a second, or for 10 intervals if that is more, by its own time. So a
// source becomes stale if it stops answering, answers with invalid values, or answers with an old
// measurement. If the Monitor does not run, all sources become stale. Readers of the monitor then
// use symptoms: the process's measurements of its own operations. An [Event] reports each change.
//
// # When it fails
//
//   - A source that measures the wrong system: the heap of a client says nothing
//     about a remote server.
//   - A source that repeats an old value as new: its age counts from [Reading].At.
//   - A wrong limit: the load is wrong by the same factor.
//
// # Sources
//
//   - Worst bottleneck: CockroachDB admission control, TiKV flow control and MongoDB flow control
//     combine so.
package load
