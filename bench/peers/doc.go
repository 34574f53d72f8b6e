// Package peers holds Weir against the limiters that others wrote: the same systems
// controlled by their real code, and the cost of a call measured in the same run.
// It is a module outside the workspace, so that who works on Weir need not
// download them. README.md has the commands and what they gave.
//
// # Foreign code in virtual time
//
// A peer reads the clock itself, so it cannot be told the time as Weir's core is. It
// runs in a bubble of testing/synctest instead: one goroutine goes from
// one happening to the next, sleeps until then, which takes no time but moves the
// bubble's clock, and calls the peer.
//
// # The same requests, and the same score
//
// Package sim does not let a foreign limiter in, so [loop] does again what its engine
// does for a limiter without a queue. The servers are sim's own. The requests are also
// sim's own: see [record], which runs its simulator on a server that only takes notes. The
// numbers for retries come from the same generator. TestSameAsSim holds that under
// constant limits the loop and sim agree on every count, so a difference between a peer
// and a law is one between their decisions.
//
// The oracle is the one of sim.Sweep; what it does not export (when in a phase
// answers were good, and the latency) comes from running its limits in the loop.
package peers
