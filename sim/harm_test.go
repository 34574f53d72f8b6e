package sim

import (
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// TestBaseline checks that no limit is no limit, whatever max a scenario allows, and 20 is
// 20.
func TestBaseline(t *testing.T) {
	s := steady(1000, func(s *Scenario) {
		s.Server, s.Limiter = Unbounded{}, Limiter{Max: 5, Initial: 5}
		s.Work, s.SLO = Constant{Mean: 100 * ms}, time.Second
		s.Phases = []Phase{{Length: 5 * time.Second}, {Length: 5 * time.Second}}
	})
	b, err := BaselineOf(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if p := b.Phases[1]; p.Unlimited < 4800 || p.Twenty < 900 || p.Twenty > 1000 || p.Possible() != p.Unlimited {
		t.Errorf("%+v", p)
	}
	r := mustRun(t, s, law.Fixed{}, 1)
	c, err := b.Compare(r)
	if err != nil || !reflect.DeepEqual(c.Good, []int{r.Phases[0].Answered, r.Phases[1].Answered}) ||
		r.Phases[0].Answered <= r.Phases[0].Good || !reflect.DeepEqual(c.Possible, b.Phases) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := b.Compare(mustRun(t, s, nil, 2)); err == nil {
		t.Error("a result of another seed is compared")
	}
	s.SLO = 0
	if _, err := BaselineOf(s, 1); err == nil {
		t.Error("a scenario without an SLO has a baseline")
	}
}

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

// TestStartIsScoredApart checks that phases that begin before Start do not count in the
// goodput.
func TestStartIsScoredApart(t *testing.T) {
	s := steady(900, func(s *Scenario) {
		s.Phases = []Phase{{Length: 2 * time.Second, Down: true}, {Length: 2 * time.Second}, {Length: 2 * time.Second}}
		s.Start, s.Regime, s.Limiter.Initial = 3*time.Second, "some", 5
	})
	c := mustScore(t, s, nil)
	if c.Starts != 2 || c.Regime != "some" || c.StartGoodput != c.Phases[1] || c.Goodput != c.Phases[2] ||
		c.Phases[0] != 100 || c.Phases[2] > 70 {
		t.Errorf("%+v", c)
	}
}

// TestJain checks that the index is 1 if all limiters get the same part of their fair share,
// and less if one takes most of the server.
func TestJain(t *testing.T) {
	s := replicated(func(s *Scenario) { s.Limiter.Initial = 4 })
	if c := mustScore(t, s, nil); c.Jain < 0.99 {
		t.Errorf("equal limits: %v", c.Jain)
	}
	s.LimiterShares, s.Limiter.Initial = []float64{10, 1, 1}, 100
	if c := mustScore(t, s, nil); c.Jain > 0.95 {
		t.Errorf("one that asks ten times as much, without a limit: %v", c.Jain)
	}
	s.LimiterFixed = []int{100, 0, 0}
	if c := mustScore(t, s, nil); c.Jain < 0.95 {
		t.Errorf("the other two: %v", c.Jain)
	}
	if c := mustScore(t, steady(100, nil), nil); c.Jain != 0 {
		t.Errorf("one limiter: %v", c.Jain)
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
