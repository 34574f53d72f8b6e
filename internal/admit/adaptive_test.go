package admit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// order ends one piece of work after another and returns the order in which requests were served.
func (r *rig) order(ticket *reply.Ticket, queue ...*request) (order []int) {
	for range queue {
		served := r.turn(ticket, queue)
		order, ticket = append(order, served), &queue[served].Ticket
	}
	return order
}

// turn ends the running work and returns which request is served in its place.
func (r *rig) turn(running *reply.Ticket, waiting []*request) int {
	r.t.Helper()
	r.done(running, window.Ignore)
	served := slices.IndexFunc(waiting, func(q *request) bool { return q.Verdict == reply.Admitted && q.woken > 0 })
	if served < 0 {
		r.t.Fatal("nothing is served")
	}
	waiting[served].woken = 0
	return served
}

func wantOrder(t *testing.T, got []int, want ...int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
}

func TestEarliestDeadlineFirst(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	ticket := r.must(1)
	late, early, middle := r.join(due(300*ms)), r.join(due(100*ms)), r.join(due(200*ms))
	r.now += ms
	wantOrder(t, r.order(ticket, late, early, middle), 1, 2, 0)
}

// Without a deadline a request must start before its timeout, which sets its place among
// requests with a deadline.
func TestNoDeadlineStandsForTheTimeout(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	ticket := r.must(1)
	later, none, sooner := r.join(due(2*time.Second)), r.join(), r.join(due(500*ms))
	wantOrder(t, r.order(ticket, later, none, sooner), 2, 1, 0)
}

// The oldest waiter has waited for longer than its target, half of its time, but not for an
// interval.
func TestBurstIsServedInOrder(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	ticket := r.must(1)
	first := r.join()
	r.now = 980 * ms
	second := r.join()
	r.now += ms
	third := r.join()
	wantOrder(t, r.order(ticket, first, second, third), 0, 1, 2)
}

// standing returns a node with one slot and work of 200 ms, offered at twice the rate it can
// serve. It is at the time when the oldest waiters have been above their target of 500 ms for
// an interval.
func standing(t *testing.T, change func(*admit.Settings)) (r *rig, running *reply.Ticket) {
	t.Helper()
	r = newRig(t, 1, change)
	running = r.must(1)
	var waiting []*request
	for range 8 {
		waiting = append(waiting, r.join(), r.join())
		r.now += 200 * ms
		running = &waiting[r.turn(running, waiting)].Ticket
	}
	for _, q := range waiting {
		if q.Verdict == reply.Waiting && q.Waited(int64(r.now)) > int64(500*ms) {
			t.Errorf("one has waited for %v: want it shed", time.Duration(q.Waited(int64(r.now))))
		}
	}
	if r.state().Refused[reply.QueueTimeout] == 0 {
		t.Fatal("nothing was shed")
	}
	return r, running
}

func TestStandingQueueServesTheNewest(t *testing.T) {
	r, running := standing(t, adaptiveQueue)
	older, newer := r.join(), r.join()
	r.done(running, window.Ignore)
	want(t, reply.Admitted, newer)
	want(t, reply.Waiting, older)
}

// A queue is no longer standing after an interval without shedding.
func TestQueueStandsNoMore(t *testing.T) {
	r, running := standing(t, adaptiveQueue)
	r.now += 501 * ms // the last shed requests of that time
	first := r.join()
	r.now += ms
	second := r.join()
	r.now += 499 * ms
	wantOrder(t, r.order(running, first, second), 0, 1)
}

// A full queue is a standing queue: its oldest waiters are gone before they are above their
// target.
func TestFullQueueStands(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.Order, s.QueueSize = queue.Adaptive, 3 })
	running := r.must(1)
	var waiting []*request
	for range 4 {
		waiting = append(waiting, r.join())
		r.now += ms
	}
	want(t, reply.QueueFull, waiting[0])
	r.done(running, window.Ignore)
	want(t, reply.Admitted, waiting[3])
}

// Work that waits when the queue becomes adaptive has until it can no longer end in time, as
// work that comes later, and its owner hears of it.
func TestWaitersOfAQueueThatBecomesAdaptive(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.QueueTimeout = time.Hour })
	r.learn(1, 100*ms)
	due, patient := r.join(due(r.now+time.Second)), r.join()
	r.update(settings(1, func(s *admit.Settings) { s.Order, s.QueueTimeout = queue.Adaptive, time.Hour }), law.Fixed{})
	if due.rechecked != 1 || patient.rechecked != 0 {
		t.Fatalf("notified %d and %d times, want 1 and 0", due.rechecked, patient.rechecked)
	}
	now, fx := r.call()
	r.node.Recheck(&due.Waiter, true, now, fx)
	within(t, "patience", due.Patience(now).Seconds(), 0.9, 0.01)
	r.now += due.Patience(now)
	now, fx = r.call()
	if v := r.node.Recheck(&due.Waiter, false, now, fx); v != reply.Deadline {
		t.Errorf("%v when its work can no longer end in time", v)
	}
}
