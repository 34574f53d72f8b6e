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
