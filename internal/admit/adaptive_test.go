package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// order ends one piece of work after another and returns the order in which requests were served.
func (r *rig) order(ticket *reply.Ticket, queue ...*request) (order []int) {
	for range queue {
		r.done(ticket, window.Ignore)
		for i, q := range queue {
			if q.verdict() == reply.Admitted && q.woken > 0 {
				q.woken = 0
				order = append(order, i)
				ticket = q.ticket()
			}
		}
	}
	return order
}

func wantOrder(t *testing.T, got []int, want ...int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("order %v, want %v", got, want)
		}
	}
}

func TestEarliestDeadlineFirst(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	ticket := r.must(1)
	late, early, middle := r.join(due(300*ms)), r.join(due(100*ms)), r.join(due(200*ms))
	r.now += ms
	wantOrder(t, r.order(ticket, late, early, middle), 1, 2, 0)
}

// Without a deadline it must start within four latencies, which is its place among
// those with one.
func TestNoDeadlineStandsForFourLatencies(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	ticket := r.learn(1, 10*ms)[0]
	later, none, sooner := r.join(due(r.now+100*ms)), r.join(), r.join(due(r.now+45*ms))
	wantOrder(t, r.order(ticket, later, none, sooner), 2, 1, 0)
}

// The queue held work back for most of the last while: it is no burst.
func TestNewestFirstOnceSaturated(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	ticket := r.must(1)
	first := r.join(due(2 * time.Second))
	r.now = 600 * ms
	second, third := r.join(due(r.now+2*time.Second)), r.join(due(r.now+2*time.Second))
	wantOrder(t, r.order(ticket, first, second, third), 2, 1, 0)
}

// The queue has not been empty for two budgets, though it does not look saturated.
func TestNewestFirstOnceTheQueueStood(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	ticket := r.learn(1, 10*ms)[0] // four latencies make a budget
	r.join()
	r.now += 35 * ms
	r.join()
	r.now += 35 * ms
	older := r.join()
	r.now += 15 * ms
	newer := r.join()
	wantOrder(t, r.order(ticket, older, newer), 1, 0)
}

func TestQueueIsFourLimitsLong(t *testing.T) {
	r := newRig(t, 2, adaptiveQueue)
	r.must(2)
	var queue []*request
	for range 10 {
		queue = append(queue, r.join())
	}
	want(t, reply.QueueFull, queue[:2]...) // the oldest, not the newcomers
	want(t, reply.Waiting, queue[2:]...)
	r.wantCounts(2, 8)
}

func TestQueueSizeBoundsTheAdaptiveQueue(t *testing.T) {
	r := newRig(t, 2, func(s *admit.Settings) { s.Order, s.QueueSize = queue.Adaptive, 3 })
	r.must(2)
	first := r.join()
	rest := []*request{r.join(), r.join(), r.join()}
	want(t, reply.QueueFull, first)
	want(t, reply.Waiting, rest...)
}

func TestOldestOfTheLowestLaneGivesWay(t *testing.T) {
	r := newRig(t, 1, adaptiveQueue)
	r.must(1)
	high := []*request{r.join(inLane(0)), r.join(inLane(0))}
	lowOld, lowNew := r.join(inLane(2)), r.join(inLane(2))
	high = append(high, r.join(inLane(0)))
	want(t, reply.QueueFull, lowOld)
	want(t, reply.Waiting, lowNew)
	want(t, reply.Waiting, high...)
	high = append(high, r.join(inLane(0)))
	want(t, reply.QueueFull, lowNew, r.join(inLane(2)))
	want(t, reply.Waiting, high...)
}

// Work that has 150 ms and takes half of that may wait for the other half, in
// which seven or eight drain; forty would be four limits.
func TestQueueIsNoLongerThanDrainsInTime(t *testing.T) {
	r := newRig(t, 10, adaptiveQueue)
	r.learn(10, 100*ms)
	for range 12 {
		r.join(due(r.now + 150*ms))
	}
	if got := r.state().Queued; got < 7 || got > 8 {
		t.Errorf("%d wait, want 7 or 8", got)
	}
}

// With like deadlines a newcomer is as good as any; the oldest gives way. With mixed
// ones a newcomer that cannot make it must not displace those who can.
func TestHopelessNewcomerIsRefusedAmongMixedDeadlines(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		r := newRig(t, 4, adaptiveQueue)
		r.learn(4, 40*ms)
		for i := range 6 {
			if mixed {
				r.join(due(r.now + time.Duration(1+i)*time.Second))
			} else {
				r.join(due(r.now + 60*ms))
			}
		}
		newcomer := r.join(due(r.now + 60*ms)) // six ahead take as long as it has
		verdict := reply.Waiting
		if mixed {
			verdict = reply.Deadline
		}
		want(t, verdict, newcomer)
	}
}

func TestLateWaitersAreDroppedInTime(t *testing.T) {
	r := newRig(t, 2, adaptiveQueue)
	ticket := r.learn(2, 20*ms)[0]
	late, none, fine := r.join(due(r.now+50*ms), weighs(2)), r.join(weighs(2)), r.join(due(r.now+time.Second), weighs(2))
	r.now += 90 * ms // a deadline less 20 ms, or four times 20 ms
	r.done(ticket, window.Ignore)
	want(t, reply.Deadline, late)
	want(t, reply.QueueTimeout, none)
	want(t, reply.Waiting, fine)
}

// Of several lanes that wait, one turns to the newest first only if it is refused.
func TestLaneKeepsItsOrderUnlessRefused(t *testing.T) {
	for _, refused := range []int{0, 4} {
		r := newRig(t, 1, adaptiveQueue)
		ticket := r.must(1)
		r.join(inLane(1), due(time.Hour))
		r.now = 600 * ms // saturated by now
		for range refused {
			want(t, reply.Deadline, r.join(due(r.now-1)))
		}
		older, newer := r.join(due(r.now+2*time.Second)), r.join(due(r.now+3*time.Second))
		r.done(ticket, window.Ignore)
		if refused == 0 {
			want(t, reply.Admitted, older)
		} else {
			want(t, reply.Admitted, newer)
		}
	}
}
