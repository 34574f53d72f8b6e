package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
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

// A limit that is not reached says nothing about a higher one, so the law does not see the
// work that the group holds back.
func TestLawDoesNotHearOfTheGroup(t *testing.T) {
	group := admit.NewGroup(2)
	l := &recorder{}
	n := newLawRig(t, l, settings(5, nil), group)
	other := newLawRig(t, law.Fixed{}, settings(5, nil), group)
	ticket := n.must(1)
	other.must(1)
	for range 20 {
		q := n.join()
		if got := n.try(1); got != reply.LimitReached {
			t.Fatal(got)
		}
		n.now += 100 * ms
		n.done(ticket, window.Success)
		ticket = &q.Ticket
	}
	if l.closed() == 0 {
		t.Fatal("no window was closed")
	}
	if w := l.last(); w.Saturated != 0 || w.Refused != 0 || w.Waited != 0 || w.Used() {
		t.Errorf("the law saw %v saturated, %d refused, %d waited", w.Saturated, w.Refused, w.Waited)
	}
	s := n.state()
	if s.Member.Wait <= 0 || s.Recent.QueueWait != 0 {
		t.Errorf("waited %v for the group and %v for the limit", s.Member.Wait, s.Recent.QueueWait)
	}
	within(t, "rate", s.DrainRate, 10, 0.05)
}

// The law does see the work that its own limit holds back.
func TestLawHearsOfItsLimitInAGroup(t *testing.T) {
	l := &recorder{}
	n := newLawRig(t, l, settings(1, nil), admit.NewGroup(2))
	ticket := n.must(1)
	for range 20 {
		q := n.join()
		n.try(1)
		n.now += 100 * ms
		n.done(ticket, window.Success)
		ticket = &q.Ticket
	}
	if w := l.last(); w.Saturated != 1 || w.Refused == 0 || w.Waited == 0 || w.QueueWait != 100*time.Millisecond {
		t.Errorf("the law saw %v saturated, %d refused, %d waited for %v",
			w.Saturated, w.Refused, w.Waited, w.QueueWait)
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
