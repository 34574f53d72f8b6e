package pool

import (
	"errors"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/trusted"
)

// A place is where a board stands in the queue of its capacity, for the task that is first. It is
// part of the board.
type place struct {
	in     *capacity.Capacity
	wake   func()          // is called when the claim was answered
	claim  *capacity.Claim // nil: none
	of     *item
	passed int  // by how many tasks
	waited bool // the last claim had to
}

// take returns the grant of an item, or [capacity.ErrWaiting] and keeps the place, or why the item
// can never have one. It must have left the place of another item.
func (p *place) take(it *item) (g capacity.Grant, err error) {
	if p.claim == nil {
		if !p.waited { // a claim costs more than to try, and less than to try in vain
			if g, err = p.in.TryAcquire(it.need); err == nil || errors.Is(err, capacity.ErrNeverFits) {
				return g, err
			}
		}
		var claim any
		if claim, err = trusted.Claim(p.in, it.need, p.wake); err != nil {
			return g, err
		}
		p.claim, p.of, p.passed = claim.(*capacity.Claim), it, 0
		g, err = p.claim.Take()
		p.waited = errors.Is(err, capacity.ErrWaiting)
	} else {
		g, err = p.claim.Take()
	}
	if !errors.Is(err, capacity.ErrWaiting) {
		p.claim, p.of = nil, nil
	}
	return g, err
}

// leave returns the claim that is to be cancelled, nil if there is none.
func (p *place) leave() (claim *capacity.Claim) {
	claim = p.claim
	p.claim, p.of = nil, nil
	return claim
}
