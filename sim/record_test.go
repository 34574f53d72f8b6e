package sim

import (
	"testing"
	"time"
)

// TestAnsweredByArrival checks that requests answered from a queue in the next phase count
// for the phase in which they came.
func TestAnsweredByArrival(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.SLO, s.Limiter = 10*time.Second, unlimited
		s.Phases = []Phase{{Length: 2 * time.Second}, {Length: 4 * time.Second, Load: 0.001}}
	})
	r := mustRun(t, s, nil, 1)
	if first, second := r.Phases[0], r.Phases[1]; first.Answered != first.Requests ||
		second.Answered != second.Requests || second.Good < 1500 {
		t.Errorf("%d of %d requests answered, then %d of %d",
			first.Answered, first.Requests, second.Answered, second.Requests)
	}
}

// TestWideBins checks that scenarios of hours have wider bins.
func TestWideBins(t *testing.T) {
	for end, want := range map[time.Duration]time.Duration{
		0: binned, time.Hour: binned, mostBins * binned: binned, 10 * time.Hour: 6 * binned,
	} {
		if got := binWidth(end); got != want {
			t.Errorf("%v: bins of %v, want %v", end, got, want)
		}
	}
	s := steady(0.05, func(s *Scenario) {
		s.Phases[0].Length, s.Sample, s.SLO, s.Work = 10*time.Hour, time.Hour, time.Hour, Constant{Mean: 10 * time.Minute}
		s.Limiter.Initial = 5
	})
	if c := mustScore(t, s, nil); c.Goodput > 60 || len(c.Phases) != 1 || c.FalseRefused == 0 {
		t.Errorf("%+v", c)
	}
}
