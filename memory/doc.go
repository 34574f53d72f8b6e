// Package memory keeps the memory of a process that imports data below a target.
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
// A slower pace does not lower the memory. A process that is slowed down allocates little, so it
// collects little garbage, and its memory stays: a controller on resident memory ends at its
// slowest pace and remains there. A [Governor] bounds the bytes in flight instead, and adapts the
// garbage collector to the memory that remains.
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
// Need is the memory that remains after a collection. It does not count garbage, which resident
// memory does, so it falls as soon as work ends. At the least budget the governor collects garbage
// once a second, because need is only known after a collection. An item larger than the budget
// waits until no bytes are in flight, and then goes alone. So every item is admitted at last,
// however small the budget is.
//
// # Memory of clients
//
// The bytes of an import are in flight for a short time. The bytes of a server's clients stay:
// sessions, subscriptions, unread answers. They do not count in the budget, because they would
// stop the import, and a wait for them might never end. [Governor.TryAcquireKept] takes them or
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
//     least target that leaves room, within 10 s. It does not limit the runtime to less than the
//     need, because the runtime would then collect garbage without end.
//   - Work that takes more memory than its bytes, such as a parsed document of ten times the size
//     of its text. Acquire that many bytes instead.
//   - Systems other than Linux: the governor does not see the memory outside of the Go runtime,
//     and takes no pages back.
package memory
