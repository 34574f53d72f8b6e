package admit_test

import (
	"testing"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// lender returns two equal nodes with two slots each, of which the first has no waiter and
// the second one waiter more than its slots.
func lender(t *testing.T) (n []*rig, lent *reply.Ticket, waiting *request) {
	t.Helper()
	_, n = shareOut(t, 4, allocation(0, 1), allocation(0, 1))
	lent = n[0].hold(2)[0]
	n[1].hold(2)
	return n, lent, n[1].join()
}

// look makes the owner of a request recheck.
func (r *rig) look(q *request) reply.Verdict {
	now, fx := r.call()
	v := r.node.Recheck(&q.Waiter, true, now, fx)
	r.fx.Woken.Wake()
	return v
}

func TestSlotWithinItsPartIsOfferedNotLentAtOnce(t *testing.T) {
	n, ticket, waiting := lender(t)
	n[0].done(ticket, window.Success)
	want(t, reply.Waiting, waiting)
	if waiting.rechecked != 1 {
		t.Fatalf("rechecked %d times, want once", waiting.rechecked)
	}
	if got := n[1].look(waiting); got != reply.Admitted {
		t.Errorf("who looks finds the slot free: %v", got)
	}
}

func TestOwnerThatComesAgainHasItsSlot(t *testing.T) {
	n, ticket, waiting := lender(t)
	for range 3 {
		n[0].done(ticket, window.Success)
		ticket = n[0].must(1)
	}
	if waiting.rechecked != 1 {
		t.Errorf("rechecked %d times before it looked, want once", waiting.rechecked)
	}
	if got := n[1].look(waiting); got != reply.Waiting {
		t.Errorf("%v, though the slot was taken", got)
	}
	n[0].done(ticket, window.Success)
	if waiting.rechecked != 2 {
		t.Errorf("rechecked %d times, want twice", waiting.rechecked)
	}
	if got := n[1].look(waiting); got != reply.Admitted {
		t.Errorf("%v, though the owner is gone", got)
	}
}

// A slot given back just before the waiter looks is not lent at this look: its owner had no
// time to come again. The next look lends it.
func TestEachOfferHasALookOfItsOwn(t *testing.T) {
	_, n := shareOut(t, 4, allocation(0, 1), allocation(0, 1))
	lent := n[0].hold(2)
	n[1].hold(2)
	first, second := n[1].join(), n[1].join()
	n[0].done(lent[0], window.Success)
	n[0].must(1)
	n[0].done(lent[1], window.Success)
	if got := n[1].look(first); got != reply.Waiting || first.rechecked != 2 {
		t.Fatalf("%v, told to look %d times: want waiting, and twice", got, first.rechecked)
	}
	if got := n[1].look(first); got != reply.Admitted {
		t.Errorf("%v at the second look, though the owner is gone", got)
	}
	want(t, reply.Waiting, second)
}

// An owner whose only work has ended still counts as busy for this offer.
func TestSlotOfAnOwnerThatRanAloneIsOffered(t *testing.T) {
	_, n := shareOut(t, 2, allocation(0, 1), allocation(0, 1))
	ticket := n[0].must(1)
	n[1].must(1)
	waiting := n[1].join()
	n[0].done(ticket, window.Success)
	want(t, reply.Waiting, waiting)
	n[0].must(1)
}
