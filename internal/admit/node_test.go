package admit_test

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

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
