package load_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

// Values of a source or a caller may be nonsense; a load is a number that is not negative all the
// same.
func TestBadInput(t *testing.T) {
	values := []float64{0, -1, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}
	for _, value := range values {
		for _, limit := range values {
			r := load.Reading{Name: "a\nb", Value: value, Limit: limit, Unit: 99}
			if y := r.Load(); math.IsNaN(y) || y < 0 {
				t.Errorf("%v of %v is a load of %v", value, limit, y)
			}
			_ = r.String()
		}
	}
	durations := []time.Duration{0, -1, time.Second, math.MaxInt64, math.MinInt64}
	for _, d := range durations {
		var s load.Symptoms
		for _, latency := range durations {
			r := s.Update(load.Operations{Oldest: latency, Latency: latency}, d)
			if y := r.Load(); math.IsNaN(y) || y < 0 {
				t.Errorf("%v, %v: a load of %v", d, latency, y)
			}
			if s.Baseline() < 0 {
				t.Errorf("%v, %v: a baseline of %v", d, latency, s.Baseline())
			}
		}
	}
	_ = load.Scope(99).String() + load.Unit(99).String() + load.Kind(99).String() + load.Event{}.String()
	if _, concerned := (load.FeedSnapshot{}).Worst(99); concerned {
		t.Error("an unknown scope concerns a source that said nothing")
	}
}

func TestReadingInWords(t *testing.T) {
	for want, r := range map[string]load.Reading{
		"level-0 tables 9 of 15":   {Name: "level-0 tables", Value: 9, Limit: 15},
		"tree 120 MiB":             {Name: "tree", Value: 120 << 20, Limit: math.Inf(1), Unit: load.Bytes},
		"longest wait 250ms of 1s": {Name: "longest wait", Value: 0.25, Limit: 1, Unit: load.Seconds},
		"cpu 60% of 90%":           {Name: "cpu", Value: 0.6, Limit: 0.9, Unit: load.Share},
		"quota: load: unavailable": {Name: "quota", Err: load.ErrUnavailable},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	kinds := fmt.Sprint(load.WentStale, load.WentMissing, load.CameBack, load.All, load.Reads, load.Writes, load.ByPace, load.ByConcurrency)
	if want := "stale unavailable answers again all reads writes pace concurrency"; kinds != want {
		t.Errorf("%q, want %q", kinds, want)
	}
}
