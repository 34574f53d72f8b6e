// Package peers holds Weir against the limiters that others wrote: the same systems
// controlled by their real code, and the cost of a call measured in the same run.
// It is a module outside the workspace, so that people who work on Weir need not
// download them. README.md has the commands and their results.
//
// # Foreign code in virtual time
//
// A peer reads the clock itself, so it cannot be told the time as Weir's core is. It
// runs in a bubble of testing/synctest instead, in which sim.RunForeign sleeps from one
// event to the next: that takes no time, but moves the bubble's clock. Requests,
// servers, faults and the oracle are those of our laws.
package peers
