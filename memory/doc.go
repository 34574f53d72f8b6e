// Package memory keeps a process that imports data inside a target of memory.
//
//	gov, err := memory.New(memory.Config{Target: 512 << 20})
//	defer gov.Close()
//	go gov.Run(ctx)
//
//	hold, err := gov.Acquire(ctx, len(line)) // before the line is copied
//	...
//	hold.Release() // when its write is acknowledged
//
// Package bulk does this for lines from a reader. Other imports call Acquire and Release
// themselves.
//
// # Why a budget of bytes
//
// A pace does not hold memory. A program that is paced allocates little, so it collects little, and
// its memory never falls: a controller on resident memory ends at its slowest pace and stays there.
// A [Governor] bounds the bytes in flight instead, and tunes the garbage collector to the
// room that is left.
//
// # Mathematics
//
// With the target T, every 50 ms:
//
//	off-heap = max(0, anonymous resident memory - memory that the Go runtime has)
//	whole    = 0.9 T - off-heap                          the bytes that the runtime may have
//	need     = live heap after the last collection + stacks + metadata of the runtime
//	room     = 1 - need/whole
//	budget   = T/64 x clamp((room - 0.10)/0.25, 0, 1)    at least 64 KiB
//	limit    = whole                                     for runtime/debug.SetMemoryLimit, at least need/0.95
//
// Need is the memory that a collection would leave. It does not count garbage, which resident
// memory does, so that it falls as soon as work ends. At the least budget the governor collects
// garbage once a second, for need is only known then. An item larger than the budget goes alone:
// it waits until nothing is in flight. So every item is admitted at last, however small the budget
// is.
//
// # Memory of clients
//
// The bytes of an import come and go. The bytes of a server's clients stay: sessions,
// subscriptions, answers that are not read. They are not of the budget, in which they would stop
// the import, and waiting for them would have no end. [Governor.TryAcquireKept] takes them or
// refuses them at once:
//
//	kept <= T/8, and nothing is added while room <= 0.10
//
// # Mapped files
//
// The files that a store maps, such as its tables, count in resident memory (RSS) while their pages
// are in use. Where RSS is above 0.85 T, the governor asks Linux to take back the pages of the
// files that [Config].Mapped names. It looks every 10 ms, for a store maps hundreds of megabytes a
// second. It uses MADV_PAGEOUT, which drops no data, even if the address was given to other memory
// in the meantime. MADV_DONTNEED would erase that memory.
//
// If Mapped names files, garbage makes room for them: the limit is 0.15 T less, but at least
// need/0.65, at which the budget is still whole.
//
// # When it fails
//
//   - A store whose own memory exceeds the target. The governor reports [TargetTooSmall], with the
//     least target that leaves room, within 10 s. It does not limit the runtime to less than is
//     needed, which would only have it collect garbage without end.
//   - Memory that work in flight takes beyond its bytes, such as a parsed document of ten times the
//     size of its text: take that many bytes instead.
//   - Systems other than Linux: the memory outside of the Go runtime is not seen, and pages are not
//     taken back.
package memory
