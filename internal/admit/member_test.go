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
