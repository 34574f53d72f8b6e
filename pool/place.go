package pool

import (
	"errors"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/trusted"
)

// A place is the place of a board in the queue of its capacity, for its first task. It is
// part of the board.
type place struct {
	in          *capacity.Capacity
	wake        func()                // is called when the reservation was answered
	reservation *capacity.Reservation // nil: none
	of          *item
	passed      int  // by how many tasks
	waited      bool // the last reservation had to
}

// take returns the grant of an item, or [capacity.ErrWaiting] and keeps the place, or why the item
// can never have one. It must have left the place of another item.
func (p *place) take(it *item) (g capacity.Grant, err error) {
	if p.reservation == nil {
		if !p.waited { // a reservation costs more than to try, and less than to try in vain
			if g, err = p.in.TryAcquire(it.request); err == nil || errors.Is(err, capacity.ErrNeverFits) {
				return g, err
			}
		}
		var reservation any
		if reservation, err = trusted.Reserve(p.in, it.request, p.wake); err != nil {
			return g, err
		}
		p.reservation, p.of, p.passed = reservation.(*capacity.Reservation), it, 0
		g, err = p.reservation.Take()
		p.waited = errors.Is(err, capacity.ErrWaiting)
	} else {
		g, err = p.reservation.Take()
	}
	if !errors.Is(err, capacity.ErrWaiting) {
		p.reservation, p.of = nil, nil
	}
	return g, err
}

// leave returns the reservation that is to be cancelled, nil if there is none.
func (p *place) leave() (reservation *capacity.Reservation) {
	reservation = p.reservation
	p.reservation, p.of = nil, nil
	return reservation
}
