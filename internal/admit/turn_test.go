package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// disciplines are the two queue disciplines, each with room for four.
var disciplines = map[string]func(*admit.Settings){
	"fifo":     func(s *admit.Settings) { s.QueueSize, s.QueueTimeout = 4, time.Hour },
	"adaptive": func(s *admit.Settings) { s.Order, s.QueueSize, s.QueueTimeout = queue.Adaptive, 4, time.Hour },
}

// served ends the work of one request after another, keeps one of each lane waiting, and
// returns the order in which the lanes were served.
func (r *rig) served(turns int, lanes ...int) (order []int) {
	ticket := r.must(1)
	waiting := map[int]*request{}
	for range turns {
		for _, lane := range lanes {
			if waiting[lane] == nil {
				waiting[lane] = r.join(inLane(lane))
			}
		}
		r.done(ticket, window.Ignore)
		for _, lane := range lanes {
			if q := waiting[lane]; q.Verdict == reply.Admitted {
				order, ticket, waiting[lane] = append(order, lane), &q.Ticket, nil
			}
		}
	}
	for _, q := range waiting {
		if q != nil {
			r.leave(q, reply.Cancelled)
		}
	}
	r.done(ticket, window.Ignore)
	return order
}

// Of twenty turns one goes to a lower lane, and each of three has its turn.
func TestStarvationIsBounded(t *testing.T) {
	for name, discipline := range disciplines {
		t.Run(name, func(t *testing.T) {
			for i, got := range newRig(t, 1, discipline).served(120, 0, 1, 2, 3) {
				want := 0
				if i%20 == 19 {
					want = 3 - i/20%3
				}
				if got != want {
					t.Errorf("turn %d: lane %d, want %d", i, got, want)
				}
			}
		})
	}
}

// A request that finds the node idle starts with all turns ahead, regardless of earlier ones.
func TestIdleNodeForgetsTurns(t *testing.T) {
	for name, discipline := range disciplines {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1, discipline)
			r.served(19, 0)
			wantOrder(t, r.served(20, 0, 3), append(make([]int, 19), 3)...)
		})
	}
}

func TestFullQueueKeepsWhoseTurnItIs(t *testing.T) {
	for name, discipline := range disciplines {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2, discipline)
			r.must(1) // it is never idle
			r.served(19, 0)
			ticket := r.must(1)
			for range 4 {
				r.join(inLane(0))
			}
			due := r.join(inLane(3))
			want(t, reply.Waiting, due)
			r.join(inLane(0))
			want(t, reply.Waiting, due)
			r.wantCounts(2, 4)
			r.done(ticket, window.Ignore)
			want(t, reply.Admitted, due)
		})
	}
}
