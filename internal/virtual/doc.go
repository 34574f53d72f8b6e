// Package virtual keeps the virtual work of a node in shadow mode: all work runs, and the
// node simulates a live one.
//
// Each request comes with virtual work, which the node admits, queues or refuses as it would
// real work. The node's count of work in flight, its meter, its drain rate and its pace are
// for the virtual work, so the law and the group see the same as with a live node. The real
// work is counted here.
//
// Virtual work ends with its own real work, if it is in flight then. The end of any other
// real work, which would have been refused or started later, ends the oldest virtual work: in
// its place the server would have served admitted work. But v in flight end no faster than
// without any load, v/R a second, where R is the latency without load. So their throughput is
// the smaller one of v/R and of the server's real throughput. That is right for a server
// whose throughput does not fall with load; decision 0014 has the measurements.
package virtual
