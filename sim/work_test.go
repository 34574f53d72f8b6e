package sim

import (
	"math"
	"testing"
	"time"
)

// TestPareto checks the mean and the tail of the distribution.
func TestPareto(t *testing.T) {
	w, r := Pareto{Mean: 10 * ms, Alpha: 2.5}, NewRand(1, 1)
	const n = 200_000
	sum, beyond := 0.0, 0
	for range n {
		d := w.Draw(r)
		if d < 6*ms-1 {
			t.Fatalf("%v is less than the least", d)
		}
		sum += d.Seconds()
		if d > 60*ms {
			beyond++
		}
	}
	if mean := sum / n; math.Abs(mean/0.01-1) > 0.02 {
		t.Errorf("mean %v", mean)
	}
	if share, want := float64(beyond)/n, math.Pow(10, -2.5); math.Abs(share/want-1) > 0.1 {
		t.Errorf("a share of %v is ten times the least, want %v", share, want)
	}
}

// TestUnbounded checks that no job slows another.
func TestUnbounded(t *testing.T) {
	s := steady(10_000, func(s *Scenario) {
		s.Server, s.Work, s.Limiter = Unbounded{}, Constant{Mean: time.Second}, unlimited
		s.SLO = 2 * time.Second
	})
	if r := mustRun(t, s, nil, 1); r.Latency.Quantile(1) > 1010*ms || r.Good < 89_000 {
		t.Errorf("%+v, at most %v", r.Tally, r.Latency.Quantile(1))
	}
	s.Phases[0].Speed = 0.5
	if r := mustRun(t, s, nil, 1); r.Latency.Quantile(0) < 1990*ms {
		t.Errorf("at half speed at least %v", r.Latency.Quantile(0))
	}
}
