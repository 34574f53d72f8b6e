package admit_test

import (
	"testing"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/law"
)

// allocation returns settings of a node with the given part of a group; its own limit is 100.
func allocation(reserved int, share float64) admit.Settings {
	return settings(100, func(s *admit.Settings) { s.Allocation = &admit.Allocation{Reserved: reserved, Share: share} })
}

// shareOut returns a group with a node for each allocation.
func shareOut(t *testing.T, limit int, allocations ...admit.Settings) (*admit.Group, []*rig) {
	t.Helper()
	group := admit.NewGroup(limit)
	rigs := make([]*rig, len(allocations))
	for i, s := range allocations {
		rigs[i] = newLawRig(t, law.Fixed{}, s, group)
	}
	return group, rigs
}

// hold starts n pieces of work.
func (r *rig) hold(n int) []*reply.Ticket {
	r.t.Helper()
	tickets := make([]*reply.Ticket, n)
	for i := range tickets {
		tickets[i] = r.must(1)
	}
	return tickets
}

// queue joins n requests to the queue.
func (r *rig) queue(n int) []*request {
	requests := make([]*request, n)
	for i := range requests {
		requests[i] = r.join()
	}
	return requests
}

// A node reserves no more than the reserves of the others leave, at first and by an update.
func TestReservesLeaveRoomForEachOther(t *testing.T) {
	group, n := shareOut(t, 4, allocation(3, 1), allocation(3, 1))
	if a, b := n[0].state().Member.Reserved, n[1].state().Member.Reserved; a != 3 || b != 1 {
		t.Errorf("%d and %d of 4 are reserved, want 3 and 1", a, b)
	}
	n[0].update(allocation(1, 1), law.Fixed{})
	n[1].update(allocation(9, 1), law.Fixed{})
	if a, b := n[0].state().Member.Reserved, n[1].state().Member.Reserved; a != 1 || b != 3 || group.State().Reserved != 4 {
		t.Errorf("%d and %d of 4 are reserved, want 1 and 3", a, b)
	}
}

func TestShadowNodeCountsWhatTheGroupWouldRefuse(t *testing.T) {
	s := allocation(0, 1)
	s.Shadow, s.QueueSize = true, 1
	_, n := shareOut(t, 2, s, allocation(0, 1))
	n[1].hold(2)
	for range 2 { // as if the first waited
		n[0].must(1)
	}
	if got := n[0].state().WouldRefuse; got != 1 {
		t.Errorf("%d would be refused, want 1", got)
	}
}
