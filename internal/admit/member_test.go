package admit_test

import (
	"errors"
	"strings"
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

func admitted(requests []*request) int {
	n := 0
	for _, q := range requests {
		if q.verdict() == reply.Admitted {
			n++
		}
	}
	return n
}

func (r *rig) wantEntitled(entitled, borrowed float64) {
	r.t.Helper()
	if m := r.state().Member; m.Entitled != entitled || m.Borrowed != borrowed {
		r.t.Errorf("entitled to %v and borrowed %v, want %v and %v", m.Entitled, m.Borrowed, entitled, borrowed)
	}
}

func TestReserveIsNeverLent(t *testing.T) {
	_, n := shareOut(t, 10, allocation(3, 1), allocation(0, 1))
	n[1].hold(7)
	if got := n[1].try(1); got != reply.LimitReached {
		t.Fatalf("borrowed a reserved slot: %v", got)
	}
	waiting := n[1].join()
	n[0].hold(3)
	if got := n[0].try(1); got != reply.LimitReached {
		t.Errorf("beyond the cap: %v", got)
	}
	want(t, reply.Waiting, waiting)
}

func TestWhoIsAloneBorrowsEverything(t *testing.T) {
	_, n := shareOut(t, 10, allocation(0, 1), allocation(0, 9))
	n[0].hold(10)
	n[0].wantEntitled(10, 0)
	n[1].wantEntitled(9, 0) // if it came
	gone := n[1].join()
	n[0].wantEntitled(1, 9)
	n[1].leave(gone, reply.Cancelled)
	n[0].wantEntitled(10, 0)
}

func TestResize(t *testing.T) {
	group, n := shareOut(t, 10, allocation(3, 1), allocation(0, 1))
	running := n[1].hold(7)
	var fx admit.Effects
	if err := group.Resize(2, 0, &fx); err == nil || !strings.Contains(err.Error(), "its cap is 2: want at least 3") {
		t.Fatalf("below the reserves: %v", err)
	}
	heavy := n[1].join(weighs(4))
	other := n[1].join()
	if err := group.Resize(6, 0, &fx); err != nil {
		t.Fatal(err)
	}
	want(t, reply.TooHeavy, heavy)
	want(t, reply.Waiting, other)
	owner := n[0].join() // the group's cap applies before the reserve, which is next
	want(t, reply.Waiting, owner)
	n[1].done(running[0], window.Success)
	want(t, reply.Waiting, owner)
	n[1].done(running[1], window.Success)
	want(t, reply.Admitted, owner)
	if s := group.State(); s.InFlight != 6 {
		t.Errorf("%d in flight, want 6", s.InFlight)
	}
	fx = admit.Effects{}
	if err := group.Resize(20, 0, &fx); err != nil {
		t.Fatal(err)
	}
	fx.Woken.Wake()
	want(t, reply.Admitted, other)
	if other.woken != 1 {
		t.Errorf("woken %d times", other.woken)
	}
}

func TestReserveIsRaisedLive(t *testing.T) {
	_, n := shareOut(t, 4, allocation(0, 1), allocation(0, 1))
	running := n[1].hold(4)
	borrower := n[1].join()
	n[0].update(allocation(3, 1), law.Fixed{})
	owner := n[0].queue(3)
	for i, ticket := range running[:3] {
		n[1].done(ticket, window.Success)
		if got := admitted(owner); got != i+1 {
			t.Fatalf("after %d completions the owner has %d slots", i+1, got)
		}
	}
	want(t, reply.Waiting, borrower)
	now, fx := n[0].call()
	if err := n[1].node.Update(allocation(2, 1), law.Fixed{}, now, fx); err == nil ||
		!strings.Contains(err.Error(), "Reserved is 2: want at most 1") {
		t.Errorf("more than there is: %v", err)
	}
	n[0].update(settings(100, nil), law.Fixed{}) // no allocation: it is kept
	if got := n[0].state().Member.Reserved; got != 3 {
		t.Errorf("reserve %d, want 3", got)
	}
	n[0].done(owner[0].ticket(), window.Success)
	want(t, reply.Waiting, borrower)
	n[0].update(allocation(2, 1), law.Fixed{})
	want(t, reply.Admitted, borrower)
}

func TestReserveAboveTheMaximumIsRefused(t *testing.T) {
	s := allocation(3, 1)
	s.Bounds = law.Bounds{Min: 1, Max: 2, Initial: 1}
	if _, err := admit.New(s, law.Fixed{}, admit.NewGroup(10), 0); err == nil ||
		!strings.Contains(err.Error(), "Reserved is 3: want at most Max, which is 2") {
		t.Errorf("got %v", err)
	}
}

func TestRemove(t *testing.T) {
	group, n := shareOut(t, 4, allocation(3, 1), allocation(0, 1))
	n[1].hold(1)
	waiting := n[1].join()
	ticket := n[0].must(1)
	var fx admit.Effects
	if err := group.Remove(n[0].node, 0, &fx); !errors.Is(err, admit.ErrBusy) {
		t.Errorf("work runs: %v", err)
	}
	n[0].done(ticket, window.Success)
	stranger := newLawRig(t, law.Fixed{}, allocation(0, 1), admit.NewGroup(1))
	for range 2 {
		if err := group.Remove(stranger.node, 0, &fx); err == nil || errors.Is(err, admit.ErrBusy) {
			t.Errorf("a stranger: %v", err)
		}
		stranger = newRig(t, 1, nil)
	}
	if err := group.Remove(n[0].node, 0, &fx); err != nil {
		t.Fatal(err)
	}
	want(t, reply.Admitted, waiting)
	if got := n[0].acquire(1); got != reply.Closed {
		t.Errorf("a removed node: %v", got)
	}
	if err := group.Remove(n[0].node, 0, &fx); err == nil {
		t.Error("removed twice")
	}
	if err := n[0].node.Update(allocation(1, 1), law.Fixed{}, 0, &fx); err == nil {
		t.Error("updated after it was removed")
	}
	if s := group.State(); s.Members != 1 || s.Reserved != 0 || s.InFlight != 2 {
		t.Errorf("%+v", s)
	}
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
		ticket = q.ticket()
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
		ticket = q.ticket()
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

func TestGroupState(t *testing.T) {
	group, n := shareOut(t, 10, allocation(4, 2), allocation(0, 1), allocation(0, 1))
	n[1].hold(6)
	n[1].queue(2)
	n[0].must(1)
	s := group.State()
	if s.Limit != 10 || s.InFlight != 7 || s.Reserved != 4 || s.Lent != 6 || s.Members != 3 || len(s.Busy) != 2 {
		t.Fatalf("%+v", s)
	}
	n[0].wantEntitled(8, 0)
	n[1].wantEntitled(2, 4)
	n[2].wantEntitled(1.5, 0) // with its node there would be three
}
