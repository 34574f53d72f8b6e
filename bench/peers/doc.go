// Package peers compares Weir with other limiters: it controls the same systems with their
// real code, and measures the cost of a call in the same run. It is a module outside the
// workspace, so that contributors to Weir need not download them. README.md has the commands
// and their results.
//
// # Foreign code in virtual time
//
// A peer reads the clock itself, so it cannot take the time as an argument as Weir's core
// does. It runs in a bubble of testing/synctest instead, in which sim.RunForeign sleeps from
// one event to the next: that takes no time, but moves the bubble's clock. Requests,
// servers, faults and the oracle are the same as for our laws.
package peers
