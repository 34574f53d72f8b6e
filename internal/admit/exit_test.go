package admit_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// exit runs a call that may end in runtime.Goexit.
func exit(call func()) {
	done := make(chan bool)
	go func() { defer close(done); call() }()
	<-done
}

// exiting is a law that calls runtime.Goexit at each window while exits is set.
func exiting(exits *bool) law.Law {
	return lawFunc(func(w law.Window) law.Decision {
		if w.Elapsed > 0 && *exits {
			runtime.Goexit()
		}
		return law.Decision{Limit: float64(w.Limit)}
	})
}

// A law that calls runtime.Goexit while a caller joins the queue leaves nothing of that
// caller behind.
func TestLawExitsAtJoin(t *testing.T) {
	exits := true
	r := newLawRig(t, exiting(&exits), settings(2, nil), nil)
	r.done(r.must(1), window.Success)
	running := r.must(1)
	r.now += 2 * time.Second
	q := &request{}
	q.Owner, q.Weight = q, 1
	exit(func() { r.node.Join(&q.Waiter, int64(r.now), &r.fx) })
	exits = false
	r.leave(q, reply.Cancelled)
	if s := r.state(); s.Admitted != 2 || s.Completed != 1 {
		t.Errorf("%d admitted and %d completed: want 2 and 1", s.Admitted, s.Completed)
	}
	if !r.done(running, window.Success) {
		t.Error("the ticket of what ran does not count")
	}
	r.wantCounts(0, 0)
}

// exitingRig returns a node with one slot, running work, waiting work, and a window that is
// due.
func exitingRig(t *testing.T, exits *bool) (r *rig, running *reply.Ticket, waits *request) {
	r = newLawRig(t, exiting(exits), settings(1, func(s *admit.Settings) { s.QueueTimeout = time.Hour }), nil)
	r.done(r.must(1), window.Success)
	running, waits = r.must(1), r.join()
	r.now += 2 * time.Second
	return r, running, waits
}

// A caller that ends by runtime.Goexit while it waits can leave, even if the law would call
// Goexit again.
func TestLawExitsInTheQueue(t *testing.T) {
	exits := true
	r, running, q := exitingRig(t, &exits)
	exit(func() {
		defer r.leave(q, reply.Cancelled)
		r.node.Recheck(&q.Waiter, false, int64(r.now), &r.fx)
	})
	r.wantCounts(1, 0)
	exits = false
	r.done(running, window.Success)
	r.wantCounts(0, 0)
}

// A slot that comes free as the law calls runtime.Goexit goes to the next waiter, which is
// notified.
func TestLawExitsAtDone(t *testing.T) {
	exits := true
	r, running, q := exitingRig(t, &exits)
	exit(func() { r.done(running, window.Success) })
	want(t, reply.Admitted, q)
	if q.woken != 1 {
		t.Errorf("woken %d times: want once", q.woken)
	}
	r.wantCounts(1, 0)
}
