package sim

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/maxmin"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// replicated returns ten workers of 10 ms behind three limiters.
func replicated(change func(*Scenario)) Scenario {
	return steady(2000, func(s *Scenario) {
		s.Limiters = 3
		if change != nil {
			change(s)
		}
	})
}

func TestLimiterShares(t *testing.T) {
	s := replicated(func(s *Scenario) { s.LimiterShares = []float64{6, 0, 2} })
	r := mustRun(t, s, nil, 1)
	if share := float64(r.Limiters[0].Requests) / float64(r.Requests); math.Abs(share-0.75) > 0.01 ||
		r.Limiters[1].Attempts != 0 {
		t.Errorf("%.3f of the requests go to the first of %+v", share, r.Limiters)
	}
	if all := r.Limiters[0].Good + r.Limiters[2].Good; all != r.Good {
		t.Errorf("%d good at the limiters, %d in all", all, r.Good)
	}
}

// TestLimiterStarts checks that requests for a limiter begin when it starts, under every
// limiter.
func TestLimiterStarts(t *testing.T) {
	s := replicated(func(s *Scenario) {
		s.LimiterStarts = []float64{0, 2.5, 9}
		s.Phases = []Phase{{Length: 2500 * ms}, {Length: 6500 * ms}, {Length: time.Second}}
	})
	foreign := must.Have(RunForeign(s, Foreign{New: func(Limiter) Gate { return &fixedGate{limit: 20} }}, 1))(t)
	for _, r := range []*Result{mustRun(t, s, nil, 1), foreign} {
		for phase, present := range []int{1, 2, 3} {
			for i, l := range r.Phases[phase].Limiters {
				if (l.Requests > 0) != (i < present) {
					t.Errorf("%s, phase %d, limiter %d: %+v", r.Law, phase, i, l)
				}
			}
		}
	}
	if o, err := Sweep(s, 1); err != nil || o.Phases[0].Good > 2500 || o.Phases[0].Good < 1500 {
		t.Errorf("the oracle: %+v, %v", o.Phases, err)
	}
}

// TestLimiterFixed checks that a neighbour keeps its limit under a law, under a foreign
// limiter and in the oracle, even beyond the bounds of the law.
func TestLimiterFixed(t *testing.T) {
	s := replicated(func(s *Scenario) {
		s.LimiterFixed = []int{0, 70, 0}
		s.Limiter.Max = 50
	})
	r := mustRun(t, s, law.Band{Target: 15 * ms}, 1)
	for _, c := range r.Changes {
		if c.Limiter == 1 {
			t.Fatalf("%+v", c)
		}
	}
	e := must.Have(newEngine(s, 1))(t)
	if limit := e.nodes[1].State(0).Limit; limit != 70 {
		t.Errorf("pinned to %d", limit)
	}
	foreign, err := RunForeign(s, Foreign{New: func(Limiter) Gate { return &fixedGate{limit: 5} }}, 1)
	if err != nil || foreign.Law != "*sim.fixedGate" || foreign.LimitMean != 80.0/3 {
		t.Errorf("%v, law %q, limit %v", err, foreign.Law, foreign.LimitMean)
	}
	complete := must.Have(s.complete())(t)
	for _, stretch := range complete.stretches(1) {
		if limits := maxmin.Split(30, stretch.needs); limits[1] != 0 || limits[0]+limits[2] != 30 {
			t.Errorf("the oracle's limits are %v", limits)
		}
	}
}

func TestLimiterSkew(t *testing.T) {
	s := replicated(func(s *Scenario) { s.LimiterSkew = []float64{0, 0.25, -3600} })
	for i, want := range []time.Duration{time.Hour, time.Hour + 250*ms, 0} {
		if got := s.clock(int32(i), time.Hour); got != want {
			t.Errorf("clock %d shows %v, want %v", i, got, want)
		}
	}
	plain := replicated(nil)
	if got := plain.clock(2, time.Second); got != time.Second {
		t.Errorf("a clock without skew shows %v", got)
	}
}

// TestSharedOracle checks that it is as good as the oracle of one limiter, less the cost of
// dividing the limit, including late starts and unequal demand.
func TestSharedOracle(t *testing.T) {
	one := must.Have(Sweep(steady(2000, nil), 1))(t)
	for _, s := range []Scenario{
		replicated(nil),
		replicated(func(s *Scenario) { s.LimiterShares = []float64{8, 1, 1} }),
		replicated(func(s *Scenario) { s.LimiterStarts, s.Arrivals = []float64{0, 0, 5}, Poisson{Rate: 3000} }),
	} {
		o := must.Have(Sweep(s, 1))(t)
		if share := float64(o.Phases[0].Good) / float64(one.Phases[0].Good); share < 0.98 || share > 1.01 {
			t.Errorf("shares %v, starts %v: %+v, %.3f of one limiter's %+v",
				s.LimiterShares, s.LimiterStarts, o.Phases[0], share, one.Phases[0])
		}
	}
	s := replicated(func(s *Scenario) { s.OracleMax = 5 })
	if o, err := Sweep(s, 1); err != nil || o.Phases[0].Limit != 5 {
		t.Errorf("up to 5: %+v, %v", o.Phases, err)
	}
	for _, c := range []struct{ limiters, most, want int }{
		{1, 300, 300}, {2, 300, 600}, {64, 300, 1000}, {2, 0, 1000}, {2, math.MaxInt, math.MaxInt},
	} {
		s := Scenario{Limiters: c.limiters, Limiter: Limiter{Max: c.most}}
		if got := s.highest(); got != c.want {
			t.Errorf("%d limiters of %d at most: up to %d, want %d", c.limiters, c.most, got, c.want)
		}
	}
}

// Four limiters start in an overload of one worker. Most of the latency that one of them measures
// is the queue of the others.
func TestReplicasOfOneWorker(t *testing.T) {
	s := Scenario{
		Arrivals: Poisson{Rate: 100}, Work: Constant{Mean: 20 * ms}, Server: WorkerPool{Workers: 1},
		SLO: 250 * ms, Limiters: 4, Phases: []Phase{{Length: 2 * time.Minute}},
	}
	good, seeds := 0, uint64(16)
	for seed := range seeds {
		good += mustRun(t, s, law.Setpoint{}, seed).Good
	}
	if share := float64(good) / float64(seeds*50*120); share < 0.4 {
		t.Errorf("%.2f of the capacity, want more than 0.4", share)
	}
}
