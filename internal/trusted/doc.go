// Package trusted is a seam between packages of this module: what they may do with each
// other because both are ours, and users may not.
package trusted

// Reserve is the method of that name of a capacity.Capacity, for a wake that neither blocks nor
// panics nor ends its goroutine. It runs on the goroutine of whoever releases; the wake of a
// user runs on one of its own, which costs a full pool about as much as all the rest of a task.
// Package capacity sets it. The arguments are a *capacity.Capacity and a *capacity.Request,
// the result is a *capacity.Reservation.
var Reserve func(c, request any, wake func()) (reservation any, err error)
