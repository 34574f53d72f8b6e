package throttle

import (
	"math"
	"testing"
	"time"
)

func TestSymptoms(t *testing.T) {
	var s symptoms
	if r := s.update(time.Hour, 0, 100*time.Millisecond); r.Err == nil {
		t.Errorf("before anything completed: %v", r)
	}
	s.update(0, 10*time.Millisecond, 100*time.Millisecond)
	for name, c := range map[string]struct {
		oldest, latency time.Duration
		want            float64
		name            string
	}{
		"ease":     {0, 10 * time.Millisecond, 0.125, "latency"},
		"slow":     {0, 80 * time.Millisecond, 1, "latency"},
		"stall":    {800 * time.Millisecond, time.Millisecond, 2, "oldest operation"},
		"nonsense": {-1, -1, 0, "latency"},
	} {
		s := s
		if r := s.update(c.oldest, c.latency, time.Millisecond); math.Abs(r.Load()-c.want) > 0.01 || r.Name != c.name {
			t.Errorf("%s: %v, a load of %.3f: want %v of %s", name, r, r.Load(), c.want, c.name)
		}
	}
}

// Latencies below 5 ms are those of the scheduler, however short the baseline is.
func TestSymptomsOfFastOperations(t *testing.T) {
	var s symptoms
	s.update(0, 10*time.Microsecond, time.Second)
	if got := s.update(0, 2*time.Millisecond, time.Microsecond).Load(); math.Abs(got-0.4) > 1e-9 {
		t.Errorf("2 ms are a load of %v, want 0.4", got)
	}
}

// The baseline sinks within seconds and rises within minutes, however often it is updated.
func TestBaseline(t *testing.T) {
	for _, dt := range []time.Duration{10 * time.Millisecond, time.Second} {
		var s symptoms
		follow := func(latency, during time.Duration) float64 {
			for range during / dt {
				s.update(0, latency, dt)
			}
			return s.baseline
		}
		s.update(0, time.Second, dt)
		if got, want := follow(100*time.Millisecond, 2*time.Second), 0.1+0.9/math.E; math.Abs(got-want) > 1e-6 {
			t.Errorf("a time constant of ease: %v, want %v", got, want)
		}
		was := s.baseline
		if got, want := follow(10*time.Second, 5*time.Minute), 10-(10-was)/math.E; math.Abs(got-want) > 1e-6 {
			t.Errorf("a time constant of storm: %v, want %v", got, want)
		}
	}
}

// Durations may be nonsense; a load is a number that is not negative all the same.
func TestSymptomsOfNonsense(t *testing.T) {
	durations := []time.Duration{0, -1, time.Second, math.MaxInt64, math.MinInt64}
	for _, d := range durations {
		var s symptoms
		for _, latency := range durations {
			r := s.update(latency, latency, d)
			if y := r.Load(); math.IsNaN(y) || y < 0 || s.baseline < 0 {
				t.Errorf("%v, %v: a load of %v, a baseline of %v", d, latency, y, s.baseline)
			}
		}
	}
}
