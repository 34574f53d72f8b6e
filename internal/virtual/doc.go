// Package virtual keeps the virtual work of a node in shadow mode, in which all work runs and the
// node finds out its would-be decisions.
//
// With each request there comes virtual work, which the node admits, queues or refuses as it
// would real work. The node's count of work in flight, its meter, its drain rate and its pace are
// those of the virtual work, so law and group see a live node;
// really running work is counted here.
//
// Virtual work ends with its own real work, if it is in flight then. The end of any other real
// work, which would have been refused or started later, ends the oldest: in its place the server
// would have done what was admitted. But v in flight end no faster than without any load, v/R a
// second, where R is the latency then. So their throughput is the smaller one of v/R and of what
// the server really achieves. That is right for a server whose throughput does not fall with load;
// decision 0014 has the measurements.
package virtual
