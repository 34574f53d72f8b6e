package dash

import (
	"fmt"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/law"
)

func TestBeliefComesFromDecisions(t *testing.T) {
	var b recording.Belief
	now := time.UnixMilli(5000)
	for i, c := range []struct {
		decision law.Reason
		want     string
	}{
		{law.Reason{Code: law.TooFew, Have: 3, Want: 10}, "{0 0 0 }"},
		{law.Reason{Code: law.Unused, Signal: law.Average, Have: 0.04, Want: 0.04}, "{0 0 0 }"},
		{law.Reason{Code: law.Above, Signal: law.Average, Have: 0.1, Want: 0.066}, "{0 0 66 average}"},
		{law.Reason{Code: law.Probing, Signal: law.Average, Have: 0.1, Want: 0.04}, "{40 0 66 average}"},
		{law.Reason{Code: law.Rebased, Signal: law.NoLoad, Have: 0.05, Want: 0.05}, "{50 5000 66 average}"},
		{law.Reason{Code: law.Above, Signal: law.Pushback, Have: 0.1, Want: 0.04}, "{50 5000 66 average}"},
		{law.Reason{Code: law.Within, Signal: law.P95, Have: 0.1, Want: 0.08}, "{50 5000 80 p95}"},
		{law.Reason{Code: law.TooFew, Have: 3, Want: 10}, "{50 5000 80 p95}"},
		{law.Reason{Code: law.Pinned}, "{0 0 0 }"},
	} {
		if b = believe(b, now, c.decision); fmt.Sprint(b) != c.want {
			t.Errorf("%d: %v: %v, want %s", i, c.decision, b, c.want)
		}
	}
}

// The latency without load is measured and used between two readings.
func TestBeliefHasTheReasonOfAChange(t *testing.T) {
	below := law.Reason{Code: law.Below, Signal: law.Average, Have: 0.06, Want: 0.08}
	var s series
	s.add(time.UnixMilli(1000), &weir.Snapshot{Last: below, Decision: below})
	s.add(time.UnixMilli(1500), &weir.Snapshot{Last: law.Reason{Code: law.Rebased, Signal: law.NoLoad, Have: 0.05, Want: 0.05}, Decision: below})
	if got := fmt.Sprint(s.belief); got != "{50 1500 80 average}" {
		t.Errorf("%s: want what was measured", got)
	}
	measured := law.Reason{Code: law.Rebased, Signal: law.NoLoad, Have: 0.04, Want: 0.04}
	for at := range int64(3) {
		s.add(time.UnixMilli(2000+500*at), &weir.Snapshot{Decision: measured})
	}
	if got := fmt.Sprint(s.belief); got != "{40 2000 80 average}" {
		t.Errorf("%s: want the time of the measurement, and not of the last reading", got)
	}
}

// Another law, or another limiter of that name, does not have the beliefs of the one before.
func TestBeliefEndsWithItsLaw(t *testing.T) {
	above := law.Reason{Code: law.Above, Signal: law.P95, Have: 0.1, Want: 0.08}
	for what, c := range map[string]struct {
		after weir.Snapshot
		want  string
	}{
		"the same law":    {weir.Snapshot{Completed: 20, Last: above}, "{0 0 80 p95}"},
		"another law":     {weir.Snapshot{Completed: 20, Last: law.Reason{Code: law.Configured}}, "{0 0 0 }"},
		"another limiter": {weir.Snapshot{Completed: 3}, "{0 0 0 }"},
	} {
		var s series
		s.add(time.UnixMilli(1000), &weir.Snapshot{Completed: 10, Last: above, Decision: above})
		s.add(time.UnixMilli(1500), &c.after)
		if got := fmt.Sprint(s.belief); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
		learned := c.after
		learned.Decision = above
		for at := range int64(2) {
			s.add(time.UnixMilli(2000+500*at), &learned)
		}
		if got := fmt.Sprint(s.belief); got != "{0 0 80 p95}" {
			t.Errorf("%s, afterwards: %s", what, got)
		}
	}
}

func TestHeatMapCountsTheLatenciesOfFiveSeconds(t *testing.T) {
	var s series
	start := time.UnixMilli(1_000_000)
	read := func(at time.Duration, counts ...histogram.Bucket) {
		h := &histogram.Snapshot{Buckets: counts}
		for _, b := range counts {
			h.Count += b.Count
		}
		s.add(start.Add(at), &weir.Snapshot{Latencies: h})
	}
	still := histogram.Bucket{Index: 40, Count: 3}
	read(0, histogram.Bucket{Index: -26, Count: 7}, still)
	read(2500*time.Millisecond, histogram.Bucket{Index: -26, Count: 8}, still)
	if s.heated {
		t.Error("a column after 2.5 s")
	}
	// 100 ms is in bucket -26, and with 91 ms in cell -6. A second is in cell 0.
	read(5*time.Second, histogram.Bucket{Index: -27, Count: 2}, histogram.Bucket{Index: -26, Count: 10}, histogram.Bucket{Index: 0, Count: 4}, still)
	if got := fmt.Sprint(s.heated, s.heat.columns); got != "true [{1005000 [{-6 5} {0 4}]}]" {
		t.Errorf("columns %s", got)
	}
	read(10*time.Second, histogram.Bucket{Index: 0, Count: 1}) // another limiter of that name
	if s.heated || len(s.heat.columns) != 1 {
		t.Errorf("after the counts began anew: %v", s.heat.columns)
	}
	s.add(start.Add(20*time.Second), &weir.Snapshot{})
	if s.heated {
		t.Error("a column without a histogram")
	}
	for i := range 2 * mostColumns {
		read(time.Minute+time.Duration(i)*heatEvery, histogram.Bucket{Index: 0, Count: uint64(i)})
	}
	if n := len(s.heat.columns); n > mostColumns || n < mostColumns*8/10 {
		t.Errorf("%d columns, want at most %d", n, mostColumns)
	}
}
