package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

func (r *rig) full(options ...func(*request)) reply.Verdict {
	q := &request{}
	q.Weight = 1
	for _, option := range options {
		option(q)
	}
	now, fx := r.call()
	v := r.node.Full(&q.Waiter, now, fx)
	fx.Woken.Wake()
	return v
}

func (r *rig) wantFull(verdict reply.Verdict, options ...func(*request)) {
	r.t.Helper()
	if got := r.full(options...); got != verdict {
		r.t.Errorf("full: %v, want %v", got, verdict)
	}
}

// Each refusal by Full teaches the adaptive queue the same as a refusal by Join. No
// other answer teaches it anything.
func TestQuestionsTeachNothing(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { adaptiveQueue(s); s.QueueTimeout = time.Hour })
	ticket := r.must(1)
	r.now += 100 * ms
	r.done(ticket, window.Success)
	r.must(1)
	first := r.join(due(r.now + time.Second))
	for range 100 { // had they joined, deadlines would count as mixed
		r.wantFull(reply.Waiting, due(r.now+time.Minute))
	}
	second := r.join(due(r.now + time.Second))
	third := r.join(due(r.now + 160*ms)) // in time if it is next, but not behind the others
	want(t, reply.Waiting, first, second)
	if got := third.verdict(); got != reply.Waiting {
		t.Errorf("with like deadlines: %v", got)
	}
}

// A question does not count towards the share of work that a pace refuses, unless it is
// refused.
func TestQuestionsUnderAShareOfRefusals(t *testing.T) {
	r := newRig(t, 1000, nil)
	now, fx := r.call()
	r.node.SetPace(admit.Pace{Refuse: 0.25}, now, fx)
	refused := 0
	for range 100 {
		if r.full() == reply.Overload {
			refused++
			continue
		}
		r.must(1)
	}
	if refused != 25 {
		t.Errorf("%d of 100 refused, want 25", refused)
	}
}

func TestFullOfTheQueue(t *testing.T) {
	for _, order := range []queue.Order{queue.FIFO, queue.Adaptive} {
		r := newRig(t, 1, func(s *admit.Settings) { s.Order, s.QueueSize = order, 1 })
		r.wantFull(reply.Admitted)
		r.must(1)
		r.wantFull(reply.Waiting)
		r.wantCounts(1, 0)
		r.wantFull(reply.TooHeavy, weighs(2))
		waiting := r.join(inLane(2))
		r.wantFull(reply.Waiting, inLane(0))
		want(t, reply.Waiting, waiting)
		if order == queue.FIFO {
			r.wantFull(reply.QueueFull, inLane(2))
			want(t, reply.Waiting, waiting)
			if n := r.state().Refused[reply.QueueFull]; n != 1 {
				t.Errorf("%d counted", n)
			}
		}
		r.drain()
		r.wantFull(reply.Closed)
	}
}
