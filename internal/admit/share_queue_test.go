package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

func TestEqualsAreServedInTurnByShare(t *testing.T) {
	_, n := shareOut(t, 1, allocation(0, 1), allocation(0, 3))
	ticket := n[0].must(1)
	waiting := [][]*request{n[0].queue(8), n[1].queue(8)}
	if served := turns(n, waiting, 0, ticket, 8); served != "abbbabbb" {
		t.Errorf("served %q, want turns of 1 and 3", served)
	}
}

// turns ends the work in a slot the given number of times and returns the members that got
// the slot.
func turns(n []*rig, waiting [][]*request, owner int, ticket *reply.Ticket, times int) (served string) {
	for range times {
		n[owner].done(ticket, window.Success)
		for i := range n {
			if q := waiting[i]; len(q) > 0 && q[0].Verdict == reply.Admitted {
				ticket, owner, waiting[i] = &q[0].Ticket, i, q[1:]
				served += string(rune('a' + i))
				break
			}
		}
	}
	return served
}

// One more busy member leaves less to the others: here the heavy work would no longer be
// within its node's entitlement, and the light work goes first.
func TestOneMoreAtWorkChangesTheTurn(t *testing.T) {
	_, n := shareOut(t, 10, allocation(0, 10), allocation(0, 2), allocation(0, 1), allocation(2, 1))
	n[0].must(1)
	n[1].must(3)
	heavy, light := n[0].join(weighs(5)), n[2].join()
	want(t, reply.Waiting, heavy, light)
	n[3].must(1)
	want(t, reply.Waiting, heavy)
	want(t, reply.Admitted, light)
}

func TestExpiredHoldsNobodyBackInAGroup(t *testing.T) {
	_, n := shareOut(t, 4, allocation(0, 1), allocation(0, 1))
	n[0].hold(1)
	n[0].hold(2)
	heavy := n[1].join(weighs(2))
	n[0].now = 2 * time.Second // its time is up, but the node has not noticed
	if got := n[0].try(1); got != reply.Admitted {
		t.Errorf("a newcomer: %v", got)
	}
	want(t, reply.QueueTimeout, heavy)
}

// A call of another node answers the last waiter of a draining node.
func TestGroupEndsTheDrainOfAnyNode(t *testing.T) {
	_, n := shareOut(t, 1, allocation(0, 1), allocation(0, 1))
	ticket := n[0].must(1)
	q := n[1].join()
	drained := n[1].drain()
	n[0].now = time.Second
	n[0].done(ticket, window.Success)
	want(t, reply.QueueTimeout, q)
	select {
	case <-drained:
	default:
		t.Error("empty, but not drained")
	}
}
