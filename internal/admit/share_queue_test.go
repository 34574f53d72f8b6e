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
			if q := waiting[i]; len(q) > 0 && q[0].verdict() == reply.Admitted {
				ticket, owner, waiting[i] = q[0].ticket(), i, q[1:]
				served += string(rune('a' + i))
				break
			}
		}
	}
	return served
}

// While a holds more than the others, the others take turns. Once it holds no more, it has no
// turns to make up for.
func TestTurnsThatWereNeverDueAreNotMadeUpFor(t *testing.T) {
	_, n := shareOut(t, 2, allocation(0, 1), allocation(0, 1), allocation(0, 1))
	running := n[0].hold(2)
	waiting := [][]*request{n[0].queue(5), n[1].queue(9), n[2].queue(9)}
	if served := turns(n, waiting, 0, running[0], 9); served != "bcbcbcbcb" {
		t.Fatalf("served %q", served)
	}
	if served := turns(n, waiting, 0, running[1], 4); served != "acac" {
		t.Errorf("served %q, want one turn each", served)
	}
}

// Two members within their entitlements take turns, even if one is done sooner.
func TestEqualClaimsAreServedInTurn(t *testing.T) {
	_, n := shareOut(t, 6, allocation(0, 1), allocation(0, 1), allocation(0, 1))
	running := n[2].hold(6)
	queues := [][]*request{n[0].queue(3), n[1].queue(3)}
	n[2].done(running[0], window.Success)
	want(t, reply.Admitted, queues[0][0])
	n[0].done(queues[0][0].ticket(), window.Success)
	want(t, reply.Admitted, queues[1][0])
	n[1].done(queues[1][0].ticket(), window.Success)
	want(t, reply.Admitted, queues[0][1])
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
