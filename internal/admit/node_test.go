package admit_test

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

func TestAdmitsUpToTheLimit(t *testing.T) {
	r := newRig(t, 3, nil)
	r.must(1)
	r.must(2)
	if got := r.try(1); got != reply.LimitReached {
		t.Errorf("beyond the limit: %v", got)
	}
	if got := r.acquire(1); got != reply.MustWait {
		t.Errorf("beyond the limit, with a queue: %v", got)
	}
	if got := r.acquire(4); got != reply.TooHeavy {
		t.Errorf("above the limit: %v", got)
	}
	r.wantCounts(3, 0)
}

func TestFreedSlotIsAdmittedAgain(t *testing.T) {
	r := newRig(t, 2, nil)
	heavy := r.must(2)
	r.done(heavy, window.Success)
	r.must(1)
	r.must(1)
	r.wantCounts(2, 0)
}

func TestSecondDoneChangesNothing(t *testing.T) {
	r := newRig(t, 2, nil)
	r.must(1)
	ticket := r.must(1)
	if !r.done(ticket, window.Success) || r.done(ticket, window.Success) {
		t.Error("want the first Done to be taken and the second not")
	}
	r.wantCounts(1, 0)
	if s := r.state(); s.Completed != 1 {
		t.Errorf("%d completed, want 1", s.Completed)
	}
}

func TestZeroTicketIsNotOut(t *testing.T) {
	r := newRig(t, 2, nil)
	r.must(1)
	if r.done(&reply.Ticket{}, window.Success) {
		t.Error("a ticket was taken that was never out")
	}
	r.wantCounts(1, 0)
}

// A copy of a returned ticket changes nothing, even when other work uses the record.
func TestCopiedTicketIsBack(t *testing.T) {
	r := newRig(t, 2, nil)
	ticket := r.must(1)
	twin := *ticket
	r.done(ticket, window.Success)
	next := r.must(1)
	if next.Record != twin.Record {
		t.Fatal("the record was not used again")
	}
	if r.done(&twin, window.Success) {
		t.Error("a copy was taken back")
	}
	r.wantCounts(1, 0)
	if !r.done(next, window.Success) {
		t.Error("a ticket that was out was not taken back")
	}
}

func TestCountsByOutcome(t *testing.T) {
	r := newRig(t, 10, nil)
	for _, outcome := range []window.Outcome{
		window.Success, window.Failure, window.Timeout, window.Timeout, window.Ignore,
	} {
		r.done(r.must(1), outcome)
	}
	now, fx := r.call()
	r.node.Forbid(reply.Cancelled, now, fx)
	s := r.state()
	if s.Admitted != 5 || s.Completed != 5 || s.Failed != 1 || s.TimedOut != 2 || s.Ignored != 1 || s.Cancelled != 1 {
		t.Errorf("got %+v", s)
	}
}

// A call that was overtaken by others has an earlier time.
func TestEarlierTimeCountsAsTheLatest(t *testing.T) {
	r := newRig(t, 1, nil)
	r.now = time.Second
	ticket := r.must(1)
	r.now = 0
	q := r.join()
	r.done(ticket, window.Success)
	if waited := q.Queued; waited != 0 {
		t.Errorf("it waited %v", time.Duration(waited))
	}
	if got := r.state().Recent.Mean; got != 0 {
		t.Errorf("mean latency %v", got)
	}
}

func TestShadowAdmitsAllAndReports(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.Shadow, s.QueueSize = true, 1 })
	for i, want := range []reply.Verdict{reply.Admitted, reply.Admitted, reply.QueueFull} {
		r.must(1)
		if r.fx.WouldRefuse != want {
			t.Errorf("request %d: would be %v, want %v", i, r.fx.WouldRefuse, want)
		}
	}
	r.wantCounts(3, 0)
	if got := r.state().WouldRefuse; got != 1 {
		t.Errorf("counted %d", got)
	}
	const heavy = 1_000_000_000
	fit := min(3, math.MaxInt/heavy) // counts of 64 bits have room for more than 32 bits
	for range fit {
		r.must(heavy)
	}
	r.wantCounts(fit*heavy+3, 0)
}

// After shadow mode, nothing starts until in flight has fallen below the limit.
func TestLeavingTheShadow(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) { s.Shadow = true })
	first, second := r.must(1), r.must(1)
	r.update(settings(1, nil), law.Fixed{})
	q := r.join()
	r.done(first, window.Success)
	want(t, reply.Waiting, q)
	r.done(second, window.Success)
	want(t, reply.Admitted, q)
}

func TestEnteringTheShadowLetsInWhoWaits(t *testing.T) {
	r := newRig(t, 1, nil)
	r.must(1)
	q := r.join()
	r.update(settings(1, func(s *admit.Settings) { s.Shadow = true }), law.Fixed{})
	want(t, reply.Admitted, q)
}

func TestBadLawIsRefused(t *testing.T) {
	bad := law.Band{Target: -1}
	if _, err := admit.New(settings(1, nil), bad, nil, 0); err == nil {
		t.Error("New took a bad law")
	}
	r := newRig(t, 7, nil)
	now, fx := r.call()
	if err := r.node.Update(settings(1, func(s *admit.Settings) { s.Bounds.Max = 1 }), bad, now, fx); err == nil {
		t.Error("Update took a bad law")
	}
	if s := r.state(); s.Limit != 7 || s.Max != 100 {
		t.Errorf("a refused update left its mark: %+v", s)
	}
}

func TestLongestDurations(t *testing.T) {
	r := newRig(t, 1, func(s *admit.Settings) {
		s.QueueTimeout, s.Interval, s.Lookback = math.MaxInt64, math.MaxInt64, math.MaxInt64
	})
	r.now = time.Hour
	ticket := r.must(1)
	q := r.join()
	r.now = 2 * time.Hour
	r.done(ticket, window.Success)
	want(t, reply.Admitted, q)
}
