package dash

import (
	"fmt"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/histogram"
)

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
	read(0, histogram.Bucket{Index: -26, Count: 7})
	read(2500*time.Millisecond, histogram.Bucket{Index: -26, Count: 8})
	if s.heated {
		t.Error("a column after 2.5 s")
	}
	// 100 ms is in bucket -26, and with 91 ms in cell -6. A second is in cell 0.
	read(5*time.Second, histogram.Bucket{Index: -27, Count: 2}, histogram.Bucket{Index: -26, Count: 10}, histogram.Bucket{Index: 0, Count: 4})
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
