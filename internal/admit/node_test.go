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
