package admit_test

import (
	"testing"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

func TestCloseRefusesWhoWaitsAndWhoComes(t *testing.T) {
	r := newRig(t, 1, nil)
	ticket := r.must(1)
	waiting := []*request{r.join(), r.join(inLane(2))}
	r.closeNode()
	want(t, reply.Closed, append(waiting, r.join())...)
	for _, q := range waiting {
		if q.woken != 1 {
			t.Errorf("woken %d times", q.woken)
		}
	}
	if a, b := r.acquire(1), r.try(1); a != reply.Closed || b != reply.Closed {
		t.Errorf("acquired: %v, tried: %v", a, b)
	}
	r.wantCounts(1, 0)
	if !r.done(ticket, window.Success) {
		t.Error("a ticket was not taken back")
	}
	r.wantCounts(0, 0)
	r.closeNode()
	if s := r.state(); s.Refused[reply.Closed] != 5 {
		t.Errorf("%d refused", s.Refused[reply.Closed])
	}
}

func TestDrainWaitsForWhatRunsAndWaits(t *testing.T) {
	r := newRig(t, 1, nil)
	ticket := r.must(1)
	q := r.join()
	drained := r.drain()
	again := r.drain()
	if got := r.acquire(1); got != reply.Closed {
		t.Errorf("acquired: %v", got)
	}
	isDrained := func(want bool) {
		t.Helper()
		for _, c := range []<-chan struct{}{drained, again} {
			select {
			case <-c:
				if !want {
					t.Fatal("drained too early")
				}
			default:
				if want {
					t.Fatal("empty, but not drained")
				}
			}
		}
	}
	isDrained(false)
	r.done(ticket, window.Success)
	want(t, reply.Admitted, q)
	isDrained(false)
	r.done(q.ticket(), window.Success)
	isDrained(true)
	drained, again = r.drain(), r.drain()
	isDrained(true)
}

func TestDrainEndsWithTheLastToLeave(t *testing.T) {
	r := newRig(t, 1, nil)
	ticket := r.must(1)
	q := r.join()
	drained := r.drain()
	r.done(ticket, window.Success)
	r.leave(q, reply.Cancelled)
	select {
	case <-drained:
	default:
		t.Error("empty, but not drained")
	}
}
