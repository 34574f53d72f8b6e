// Package trusted gives package pool the parts of package capacity that users do not need.
package trusted

// Reservations is the access to reservations that package capacity provides: C is
// *capacity.Capacity, R is *capacity.Request, W is *capacity.Reservation and G is capacity.Grant.
type Reservations[C, R, W, G any] struct {
	// Reserve is Capacity.Reserve with a wake that neither blocks nor panics nor ends its
	// goroutine. Such a wake runs on the goroutine that releases. The wake of a user runs on one of
	// its own, which costs a full pool about as much as all the rest of a task.
	Reserve func(c C, request R, wake func()) (W, error)

	// Cancel and Backfill are the methods of a reservation that may be called under a lock: instead
	// of waking other owners they return a function that does, nil if there is none to wake.
	Cancel   func(w W) (wake func())
	Backfill func(w W, request R) (grant G, wake func(), err error)
}

var provided any

// Provide is called once, by package capacity.
func Provide[C, R, W, G any](r Reservations[C, R, W, G]) { provided = r }

// Of returns the access that package capacity provided. It panics if capacity provided other types.
func Of[C, R, W, G any]() Reservations[C, R, W, G] { return provided.(Reservations[C, R, W, G]) }
