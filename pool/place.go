package pool

import (
	"errors"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/trusted"
)

var reservations = trusted.Of[*capacity.Capacity, *capacity.Request, *capacity.Reservation, capacity.Grant]()

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
	fresh := p.reservation == nil
	if fresh {
		if !p.waited { // a reservation costs more than to try, and less than to try in vain
			if g, err = p.in.TryAcquire(it.request); err == nil || errors.Is(err, capacity.ErrNeverFits) {
				return g, err
			}
		}
		if p.reservation, err = reservations.Reserve(p.in, it.request, p.wake); err != nil {
			return g, err
		}
		p.of, p.passed = it, 0
	}
	g, err = p.reservation.Grant()
	waits := errors.Is(err, capacity.ErrWaiting)
	if fresh {
		p.waited = waits
	}
	if !waits {
		p.reservation, p.of = nil, nil
	}
	return g, err
}

// pass takes the grant of an item that overtakes the one of the place.
func (p *place) pass(it *item, fx *effects) (g capacity.Grant, err error) {
	g, wake, err := reservations.Backfill(p.reservation, it.request)
	if err != nil {
		return g, err
	}
	fx.wake(wake)
	p.passed++
	return g, nil
}

// leave gives the place up, if there is one.
func (p *place) leave(fx *effects) {
	if p.reservation == nil {
		return
	}
	fx.wake(reservations.Cancel(p.reservation))
	p.reservation, p.of = nil, nil
}
