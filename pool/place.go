package pool

import (
	"errors"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/trusted"
)

var reserve = trusted.Of[*capacity.Capacity, *capacity.Request, capacity.Grant]()

// A place is the place of a board in the queue of its capacity, for its first task. It is
// part of the board.
type place struct {
	in          *capacity.Capacity
	wake        func()                                                 // is called when the reservation was answered
	reservation trusted.Reservation[*capacity.Request, capacity.Grant] // nil: none
	of          *item
	passed      int  // the number of tasks that overtook the item
	waited      bool // the last reservation had to wait
}

// take returns the grant of an item. If the item has to wait, take keeps the place for it and
// returns [trusted.ErrWaiting]. Any other error says why the item can never have a grant. The board
// must have left the place of another item.
func (p *place) take(it *item) (g capacity.Grant, err error) {
	fresh := p.reservation == nil
	if fresh {
		if !p.waited { // it costs less than a reservation if it succeeds, and more if it fails
			if g, err = p.in.TryAcquire(it.request); err == nil || errors.Is(err, capacity.ErrNeverFits) {
				return g, err
			}
		}
		if p.reservation, err = reserve(p.in, it.request, p.wake); err != nil {
			return g, err
		}
		p.of, p.passed = it, 0
	}
	g, err = p.reservation.Grant()
	waits := errors.Is(err, trusted.ErrWaiting)
	if fresh {
		p.waited = waits
	}
	if !waits {
		p.reservation, p.of = nil, nil
	}
	return g, err
}

// pass takes the grant of an item that overtakes the item of the place.
func (p *place) pass(it *item) (g capacity.Grant, err error) {
	if g, err = p.reservation.Backfill(it.request); err == nil {
		p.passed++
	}
	return g, err
}

// cameUp reports whether the item of the place could have its grant.
func (p *place) cameUp() bool {
	if p.reservation == nil {
		return false
	}
	_, err := p.reservation.Grant()
	return err == nil
}

func (p *place) leave() {
	if p.reservation != nil {
		p.reservation.Cancel()
		p.reservation, p.of = nil, nil
	}
}
