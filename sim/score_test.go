package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

func mustScore(t testing.TB, s Scenario, l law.Law) Score {
	t.Helper()
	o := must.Have(Sweep(s, 1))(t)
	return must.Have(o.Score(mustRun(t, s, l, 1)))(t)
}

func TestScore(t *testing.T) {
	s := steady(2000, func(s *Scenario) { s.Phases[0].Length = 2 * time.Second })
	if c := mustScore(t, s, nil); c.Goodput < 99 || c.Convergence != 0 || c.FalseRefused != 0 || c.Refused < 0.45 ||
		c.LimitMean != 20 || c.LimitCV != 0 || c.P99Ratio < 1 {
		t.Errorf("a limit of 20 for 10 workers: %+v", c)
	}
	s.Limiter.Initial = 5
	if c := mustScore(t, s, nil); c.Goodput < 45 || c.Goodput > 50 || c.Convergence != 2 || c.Phases[0] != c.Goodput ||
		c.P99Ratio > 1 {
		t.Errorf("a limit of 5 for 10 workers: %+v", c)
	}
	s.Limiter.Initial = 500
	if c := mustScore(t, s, nil); c.Goodput > 10 || c.Late < 0.9 || c.P99Ratio < 5 {
		t.Errorf("a limit of 500 for 10 workers: %+v", c)
	}
	s.Arrivals = Poisson{Rate: 300}
	s.Limiter.Initial = 3
	if c := mustScore(t, s, nil); c.FalseRefused != c.Refused || c.Refused < 0.3 {
		t.Errorf("a limit of 3 at 30%% load: %+v", c)
	}
}

// TestScoreIsCapped checks a burst that a queue absorbs and no limit alone does.
func TestScoreIsCapped(t *testing.T) {
	s := steady(500, func(s *Scenario) {
		s.Arrivals = Bursts{Rate: 200, Factor: 20, Calm: 400 * ms, Burst: 20 * ms}
		s.SLO = 30 * ms
		s.Limiter.Initial, s.Limiter.Queue = 10, Queue{Adaptive: true}
	})
	c := mustScore(t, s, nil)
	if c.Goodput > 100 || c.Phases[0] > 100 || c.Uncapped < 95 {
		t.Errorf("%+v", c)
	}
}

func TestScoreNeedsItsOracle(t *testing.T) {
	s := steady(100, nil)
	o := must.Have(Sweep(s, 1))(t)
	other := mustRun(t, s, nil, 2)
	if other.Requests == mustRun(t, s, nil, 1).Requests {
		t.Errorf("two seeds have the same %d requests", other.Requests)
	}
	if _, err := o.Score(other); err == nil ||
		!strings.Contains(err.Error(), "with seed 2 cannot be scored") {
		t.Error(err)
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

// TestProbed checks that refusals while a law measures without load are counted apart.
func TestProbed(t *testing.T) {
	s := steady(900, func(s *Scenario) { s.Phases[0].Length = 20 * time.Second })
	often := mustRun(t, s, law.Little{Remeasure: 2 * time.Second}, 1)
	if score := mustScore(t, s, law.Little{Remeasure: 2 * time.Second}); often.Probed == 0 ||
		often.Probed > often.Refused ||
		score.Probed != float64(often.Probed)/float64(often.Attempts) {
		t.Errorf("%d of %d refusals while probing, a share of %v", often.Probed, often.Refused, score.Probed)
	}
	s.Arrivals = Poisson{Rate: 2000}
	if never := mustRun(t, s, law.Little{Remeasure: time.Hour}, 1); never.Probed != 0 || never.Refused == 0 {
		t.Errorf("%d of %d refusals while probing, which the law never did", never.Probed, never.Refused)
	}
}
