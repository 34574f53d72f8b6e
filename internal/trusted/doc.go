// Package trusted gives package pool the reservations of package capacity, which users do not need:
// a wake function of a user would need a call without a lock, on a goroutine of its own.
package trusted

import "errors"

// ErrWaiting is the error of a reservation before its turn has come, and ErrCancelled its error
// after Cancel.
var (
	ErrWaiting   = errors.New("capacity: the reservation is not answered yet")
	ErrCancelled = errors.New("capacity: the reservation was cancelled")
)

// A Reservation is a request in the queue of a capacity: Capacity.Acquire for a scheduler, which
// cannot block. R is *capacity.Request and G is capacity.Grant.
type Reservation[R, G any] interface {
	// Grant returns the grant, or ErrWaiting if the reservation is not answered yet, or the error
	// of its refusal. A further call returns the same grant.
	Grant() (G, error)

	// Cancel leaves the queue, or gives the grant back.
	Cancel()

	// Backfill takes the resources of another request of the owner while the reservation still
	// waits. It is the only way to overtake, and only the reservation loses by it. It is refused as
	// TryAcquire is, also if other requests wait in front of the reservation. An owner that
	// backfills without bound starves its reservation.
	Backfill(request R) (G, error)
}

// Reserve joins the queue of the capacity c. If the request fits at once, the reservation is
// answered when Reserve returns, and wake is never called. Otherwise wake is called once, when the
// reservation is answered, under the lock of the capacity: it must neither block nor panic. Reserve
// fails as Acquire does.
type Reserve[C, R, G any] func(c C, request R, wake func()) (Reservation[R, G], error)

var provided any

// Provide keeps the function that makes reservations. Package capacity calls it once.
func Provide[C, R, G any](reserve Reserve[C, R, G]) { provided = reserve }

// Of returns the function that package capacity provided. It panics if capacity provided other
// types.
func Of[C, R, G any]() Reserve[C, R, G] { return provided.(Reserve[C, R, G]) }
