package load_test

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

const tick = 100 * time.Millisecond

func TestSymptoms(t *testing.T) {
	var s load.Symptoms
	if r := s.Update(load.Operations{Oldest: time.Hour}, tick); r.Err == nil {
		t.Errorf("before anything completed: %v", r)
	}
	s.Update(load.Operations{Latency: 10 * time.Millisecond}, tick)
	for name, c := range map[string]struct {
		work load.Operations
		want float64
		name string
	}{
		"ease":     {load.Operations{Latency: 10 * time.Millisecond}, 0.125, "latency"},
		"slow":     {load.Operations{Latency: 80 * time.Millisecond}, 1, "latency"},
		"stall":    {load.Operations{Latency: time.Millisecond, Oldest: 800 * time.Millisecond}, 2, "oldest operation"},
		"nonsense": {load.Operations{Latency: -1, Oldest: -1}, 0, "latency"},
	} {
		s := s
		if r := s.Update(c.work, time.Millisecond); math.Abs(r.Load()-c.want) > 0.01 || r.Name != c.name {
			t.Errorf("%s: %v, a load of %.3f: want %v of %s", name, r, r.Load(), c.want, c.name)
		}
	}
}

// The baseline sinks within seconds and rises within minutes, however often it is updated.
func TestBaseline(t *testing.T) {
	for _, dt := range []time.Duration{10 * time.Millisecond, time.Second} {
		var s load.Symptoms
		follow := func(latency, during time.Duration) float64 {
			for range during / dt {
				s.Update(load.Operations{Latency: latency}, dt)
			}
			return s.Baseline().Seconds()
		}
		s.Update(load.Operations{Latency: time.Second}, dt)
		if got, want := follow(100*time.Millisecond, 2*time.Second), 0.1+0.9/math.E; math.Abs(got-want) > 1e-6 {
			t.Errorf("a time constant of ease: %v, want %v", got, want)
		}
		was := s.Baseline().Seconds()
		if got, want := follow(10*time.Second, 5*time.Minute), 10-(10-was)/math.E; math.Abs(got-want) > 1e-6 {
			t.Errorf("a time constant of storm: %v, want %v", got, want)
		}
	}
}
