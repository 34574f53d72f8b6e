// Package trusted is a seam between packages of this module: what they may do with each
// other because both are ours, and users may not.
package trusted

// Claim is the method of that name of a capacity.Capacity, for a wake that neither blocks nor
// panics nor ends its goroutine. It runs on the goroutine of whoever releases; the wake of a
// user runs on one of its own, which costs a full pool about as much as all the rest of a task.
// Package capacity sets it. The arguments are a *capacity.Capacity and a *capacity.Need,
// the result is a *capacity.Claim.
var Claim func(c, need any, wake func()) (claim any, err error)
