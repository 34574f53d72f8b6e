package sim

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// TestHarmSystems checks that the systems stay within their documented ranges.
func TestHarmSystems(t *testing.T) {
	seen := map[string]int{}
	least, most := math.Inf(1), 0.0
	for seed := range uint64(120) {
		s := Harm(seed)
		if !reflect.DeepEqual(s, Harm(seed)) {
			t.Fatalf("%s differs from itself", s.Name)
		}
		c, err := s.complete()
		if err != nil {
			t.Fatal(err)
		}
		seen[s.Regime]++
		if s.Start < 10*time.Second || s.Phases[0].Length != s.Start || s.Phases[0].Name != "start" ||
			len(s.Phases) < 2 {
			t.Errorf("%s: a start of %v, phases %+v", s.Name, s.Start, s.Phases)
		}
		for _, p := range s.Phases {
			if p.Load <= 0 {
				t.Errorf("%s: %+v", s.Name, p)
			}
		}
		if b, ok := s.Arrivals.(Batches); ok && (b.Size < 2 || b.Size > 200) {
			t.Errorf("%s: %+v", s.Name, b)
		}
		if o, ok := s.Arrivals.(OnOff); ok {
			if duty := float64(o.On) / float64(o.On+o.Off); duty < 0.0099 || duty > 0.601 {
				t.Errorf("%s: a duty of %v: %+v", s.Name, duty, o)
			}
		}
		if s.Limiters > 64 || s.Limiter != (Limiter{}) {
			t.Errorf("%s: %d limiters, %+v", s.Name, s.Limiters, s.Limiter)
		}
		requests, work := 0, 0.0
		for at := newTraffic(&c, 1); at.next.at != Never; at.advance() {
			requests++
			work += at.next.work.Seconds()
		}
		if requests > 200_000 || requests < 20 {
			t.Errorf("%s: %d requests", s.Name, requests)
		}
		least, most = min(least, work/float64(requests)), max(most, work/float64(requests))
	}
	if least > 100e-6 || most < 300 {
		t.Errorf("mean work from %v to %v s", least, most)
	}
	for _, r := range regimes {
		if seen[r.name] != 120/len(regimes) {
			t.Errorf("%d systems of %s", seen[r.name], r.name)
		}
	}
}

func TestSharedSystems(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		s := Shared(seed)
		if _, err := s.complete(); err != nil {
			t.Fatal(err)
		}
		if s.Limiters < 2 || s.Limiters > 16 || !reflect.DeepEqual(s, Shared(seed)) ||
			len(s.LimiterSkew) != s.Limiters || slices.Max(s.LimiterSkew) > 0.02 {
			t.Errorf("%+v", s)
		}
		seen[s.Regime]++
	}
	if len(seen) != 6 {
		t.Errorf("%v", seen)
	}
}

// TestRandomReplicas checks that a third of the random systems have several limiters, and
// that they are otherwise unchanged.
func TestRandomReplicas(t *testing.T) {
	alone := DefaultRanges
	alone.Replicated = 0
	replicated := 0
	for seed := range uint64(300) {
		s, without := Random(DefaultRanges, seed), Random(alone, seed)
		if s.Regime != "" {
			replicated++
			if s.Limiters < 2 || s.Limiters > 16 {
				t.Errorf("%d limiters", s.Limiters)
			}
			s.Regime, s.Limiters, s.LimiterShares, s.LimiterStarts, s.LimiterSkew = "", 0, nil, nil, nil
		}
		if !reflect.DeepEqual(s, without) {
			t.Errorf("%+v\n%+v", s, without)
		}
	}
	if replicated < 80 || replicated > 120 {
		t.Errorf("%d of 300 have replicas", replicated)
	}
}

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
