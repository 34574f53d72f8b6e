// Package load knows how close a system is to its limit, from signals outside the
// path of requests: a store's backlog, memory, the CPU, the waits of a database.
//
// A [Source] measures one system. A [Monitor] polls its sources, each in a
// goroutine of its own so that a database which hangs does not keep the memory from
// being read, and has their last answers:
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
// A [Reading] has a value and the limit at which its system gives in; its load is
//
//	value / limit
//
// so that signals in bytes, tables and seconds compare. Several combine by the
// worst bottleneck, the maximum: a store that stalls is not half as bad because the
// heap is half empty. A weighted sum would mask a single bottleneck.
//
// # Age
//
// A reading is valid for a second, or for 10 intervals if that is more, by its own time. So a
// source that stops answering, answers with nonsense, or answers with a measurement of an hour ago
// becomes stale, and so does everything if the Monitor is not run. Readers of the monitor then fall
// back on symptoms: the process's measurements of its own operations. The change is an [Event]
// either way.
//
// # When it fails
//
//   - A source that measures the wrong system: the heap of a client says nothing
//     about a remote server.
//   - A source that repeats an old value as new: its age counts from [Reading].At.
//   - A limit that is not one: everything scales with it.
//
// # Sources
//
//   - Worst bottleneck: CockroachDB admission control, TiKV flow control and MongoDB flow control
//     combine so.
package load
