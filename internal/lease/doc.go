// Package lease is the protocol by which the members of a fleet share a cap: package fleet runs it,
// and the simulation in internal/check tests it. It has no goroutine and reads no clock: entries of
// a store and the time go into a [Node], and writes come out.
//
// # Parties
//
// Each process is a member. One of them is also the allocator. They speak through a store, which
// keeps the newest value of each key and sends it to the watchers:
//
//	lease.leader      who allocates: an [Epoch], renewed each second
//	lease.want.<id>   the slots that a member needs, holds and runs: a [Want], each second
//	lease.grant.<id>  the share of a member: a [Grant], in answer to a want
//
// A member watches its own grant and the leader. The allocator watches all keys. Delays, lost
// messages and stale reads cost only time.
//
// # Never above the cap
//
// The allocator counts for each member the slots that it may occupy: the largest of the slots that
// it says it holds or runs, and of each grant that it has not confirmed. The allocator raises a
// member only by slots that are free. So a decrease comes first, the loser's next want confirms it,
// and then the slots are given away. Running work is never interrupted: it occupies its slots until
// it ends.
//
// # Time
//
// There is no common clock. Each want carries a stamp of the member's own clock, and the grant
// repeats it: the lease ends TTL after that stamp, which is when the member sent the want. The
// allocator counts from its write of the grant, and adds a tenth. So the member stops first, as
// long as clocks do not run apart by more than a tenth ([drift]).
//
// # Silence
//
// When its lease ends, a member falls back: to 0 ([Refuse]), to the smaller of its share and an
// equal part of the cap ([Keep]), which the grant states, or to no share at all ([Local]). The
// allocator counts a silent member in full for TTL and Grace, the time of the longest work, and its
// Keep from then on, until Forget.
//
// # A change of allocator
//
// A member that has not seen the leader renewed for half a TTL writes itself as leader, if the
// entry has not changed since (compare and set). Its epoch is above all epochs that it knows. A
// member that sees the epoch promises, with its next want, to accept no grant of an earlier epoch.
// That want also has the slots that the member holds. The new allocator raises no member until all
// members have promised, or until the grants of any predecessor must have run out: half a TTL in
// which the predecessor may believe that it leads, a TTL, and Grace. It renews the slots that a
// member holds at once.
//
// # A store that goes back
//
// A store may lose its last seconds, after a failover for example. Nothing above relies on stored
// grants: an allocator knows its own grants, and a new allocator asks. Only the list of members
// must not be lost. So a new member gets its first share only after five refreshes, which is the
// most time that a store may lose. If there is no leader at all, the store is new or has lost
// everything. Then the past is unknown, and the full wait applies.
//
// # Sources
//
// Leases, safe capacity and fair shares are those of Doorman (Google, 2016). Promises and epochs
// are those of Paxos: Lamport, "The part-time parliament", ACM TOCS 16(2), 1998. Leases that the
// holder gives up before the grantor does are those of Gray and Cheriton, SOSP 1989.
package lease
