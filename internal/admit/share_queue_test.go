package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Slots that an owner does not claim go to the others by share.
func TestRestIsBalancedByShare(t *testing.T) {
	_, n := shareOut(t, 12, allocation(0, 1), allocation(0, 1), allocation(0, 3))
	n[0].must(1)
	running := n[1].hold(11)
	n[2].queue(10)
	n[1].queue(10)
	for _, ticket := range running {
		n[1].done(ticket, window.Success)
	}
	if a, b := n[1].state().InFlight, n[2].state().InFlight; a != 3 || b != 8 {
		t.Errorf("%d and %d in flight, want 3 and 8 of the 11 that are left", a, b)
	}
}

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

// Many members entitled to a fraction of a slot do not take the whole slots of another,
// however long they hold theirs.
func TestFractionsDoNotTakeWholeSlots(t *testing.T) {
	allocations := []admit.Settings{allocation(0, 10)}
	for range 10 {
		allocations = append(allocations, allocation(0, 1))
	}
	_, n := shareOut(t, 10, allocations...)
	large, small := n[0], n[1:]
	running := large.hold(10)
	var tiny []*request
	for _, s := range small {
		tiny = append(tiny, s.queue(2)...)
	}
	for range 20 { // its slots come back to it as long as it is within its part
		large.queue(1)
		large.done(running[0], window.Success)
		running = running[1:]
		if len(running) == 0 {
			break
		}
	}
	if got := large.state().InFlight; got != 5 {
		t.Errorf("%d slots, want its 5 of 10", got)
	}
	if got := admitted(tiny); got != 5 {
		t.Errorf("the others have %d, want 5", got)
	}
	for _, s := range small {
		if got := s.state().InFlight; got > 1 {
			t.Errorf("one has %d slots before others have one", got)
		}
	}
}

func TestHeavyWorkFirstInLineIsNotOvertaken(t *testing.T) {
	_, n := shareOut(t, 6, allocation(0, 1), allocation(0, 1), allocation(2, 1))
	running := n[0].hold(4)
	heavy := n[1].join(weighs(3))
	light := n[0].join()
	n[0].done(running[0], window.Success)
	n[0].done(running[1], window.Success)
	want(t, reply.Waiting, heavy, light)
	if got := n[0].try(1); got != reply.LimitReached {
		t.Errorf("a newcomer overtakes: %v", got)
	}
	n[2].hold(2) // a reserve is not in its way
	n[0].done(running[2], window.Success)
	want(t, reply.Admitted, heavy)
	want(t, reply.Waiting, light)
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

// The member that holds less is next, even if it came to hold less when no slot came free.
func TestWhoHoldsLessMovesUp(t *testing.T) {
	group, n := shareOut(t, 6, allocation(0, 1), allocation(0, 1), allocation(0, 1))
	more, less, last := n[0].hold(3), n[1].hold(2), n[2].must(1)
	first, second := n[0].join(), n[1].join()
	var fx admit.Effects
	if err := group.Resize(4, 0, &fx); err != nil {
		t.Fatal(err)
	}
	n[0].done(more[0], window.Success)
	n[0].done(more[1], window.Success)
	want(t, reply.Waiting, first, second)
	n[2].done(last, window.Success)
	n[0].look(first)
	want(t, reply.Admitted, first)
	want(t, reply.Waiting, second)
	n[1].done(less[0], window.Success)
	want(t, reply.Admitted, second)
}
