// Package virtual keeps the virtual work of a node in shadow mode. In that mode all work runs, and
// the node simulates a live node.
//
// Each request comes with virtual work, which the node admits, queues or refuses as it would real
// work. The node's count of work in flight, its meter, its drain rate and its pace are for the
// virtual work, so the law and the group see the same figures as with a live node. This package
// counts the real work.
//
// Virtual work ends with its own real work, if the virtual work is in flight then. All other real
// work would have been refused or started later. Its end ends the oldest virtual work, because in
// its place the server would have served admitted work. But virtual work of weight v in flight ends
// no faster than without any load: v/R a second, where R is the latency without load. So the
// throughput of virtual work is the smaller of v/R and the server's real throughput. That is right
// for a server whose throughput does not fall with load; decision 0014 has the measurements.
package virtual
