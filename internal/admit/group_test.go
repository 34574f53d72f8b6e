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
