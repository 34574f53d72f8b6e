// Package fleet shares one cap among the processes of a fleet, so that together they never have
// more work in flight than the cap.
//
// # Three ways
//
// [Divide] splits a cap by a number of processes that you know, or that a [Counter] finds in DNS.
// It needs no store, and a process that has little to do wastes its part. [Join] leases shares by
// demand: the members speak through a [Store], one member allocates, and each member keeps its work
// within its share. No request waits for the store.
//
// # The guarantee
//
// At any time the work in flight of all members is at most the cap, whatever happens to members,
// messages, clocks and the store, as long as
//
//   - clocks run apart by less than a tenth,
//   - no work takes longer than [Config].Grace,
//   - no process stands still, as by SIGSTOP, for longer than its lease, and then starts work before
//     its member notices,
//   - the store loses at most its last five refreshes, or everything.
//
// With [Local] the guarantee ends with the lease: each member then takes as much as its limiter
// allows.
//
// # Time
//
// A share moves within two to five refreshes. If the store fails, shares stay until their leases
// end, [Config].TTL later, and then [Config].Fallback holds. A new allocator, and a store without
// any entries, raise no member for one and a half TTL and one Grace, because earlier shares may
// still be in use.
//
// # Sources
//
// internal/lease has the protocol and its sources, internal/check its simulation.
package fleet
