package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// newGroup returns nodes with a limit of 5 each under a common cap.
func newGroup(t *testing.T, limit, nodes int) (*admit.Group, []*rig) {
	t.Helper()
	group := admit.NewGroup(limit)
	rigs := make([]*rig, nodes)
	for i := range rigs {
		rigs[i] = newLawRig(t, law.Fixed{}, settings(5, nil), group)
	}
	return group, rigs
}

func TestGroupCapsAllNodesTogether(t *testing.T) {
	group, n := newGroup(t, 6, 2)
	n[0].must(4)
	n[1].must(2)
	if got := n[1].try(1); got != reply.LimitReached {
		t.Errorf("beyond the cap: %v", got)
	}
	if got := n[0].try(2); got != reply.LimitReached {
		t.Errorf("beyond both: %v", got)
	}
	if got := group.InFlight(); got != 6 {
		t.Errorf("%d in flight", got)
	}
	_, n = newGroup(t, 3, 1)
	if got := n[0].acquire(4); got != reply.TooHeavy {
		t.Errorf("heavier than the cap: %v", got)
	}
}

// A node at its own limit does not keep the others from being served.
func TestGroupPassesOverAFullNode(t *testing.T) {
	small := allocation(0, 10) // with the better claim
	small.Bounds.Initial = 1
	_, n := shareOut(t, 6, small, allocation(0, 1))
	n[0].must(1)
	running := n[1].hold(5)
	full, free := n[0].join(), n[1].join()
	n[1].done(running[0], window.Success)
	want(t, reply.Waiting, full)
	want(t, reply.Admitted, free)
}

func TestGroupForgetsNodesThatNobodyWaitsFor(t *testing.T) {
	_, n := newGroup(t, 1, 2)
	ticket := n[0].must(1)
	gone, waits := n[0].join(), n[1].join()
	n[0].leave(gone, reply.Cancelled)
	n[0].done(ticket, window.Success)
	want(t, reply.Admitted, waits)
}

// A call of another node answers the last waiter of a draining node.
func TestGroupEndsTheDrainOfAnyNode(t *testing.T) {
	_, n := newGroup(t, 1, 2)
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

// The times of calls of different nodes may be out of order.
func TestGroupNeverTurnsBackTime(t *testing.T) {
	_, n := newGroup(t, 1, 2)
	ticket := n[0].must(1)
	n[1].now = 100 * ms
	q := n[1].join()
	n[0].now = 90 * ms
	n[0].done(ticket, window.Success)
	if waited := q.Queued; waited != 0 {
		t.Errorf("it waited %v", time.Duration(waited))
	}
}

// Time that passes in calls of other nodes counts as saturated all the same.
func TestGroupKeepsDrainRates(t *testing.T) {
	_, n := newGroup(t, 2, 2)
	tickets := []*reply.Ticket{n[0].must(1), n[1].must(1)}
	waiting := make([][]*request, len(n))
	for i := range n {
		waiting[i] = []*request{n[i].join()}
	}
	for range 100 {
		for i := range n {
			n[0].now += 5 * ms
			n[1].now = n[0].now
			waiting[i] = append(waiting[i], n[i].join())
			n[i].done(tickets[i], window.Success)
			tickets[i], waiting[i] = waiting[i][0].ticket(), waiting[i][1:]
		}
	}
	for i := range n {
		within(t, "rate", n[i].state().DrainRate, 100, 0.05)
	}
}
