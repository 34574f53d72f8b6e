package sim

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

func mustScore(t testing.TB, s Scenario, l law.Law) Score {
	t.Helper()
	o, err := Sweep(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	score, err := o.Score(mustRun(t, s, l, 1))
	if err != nil {
		t.Fatal(err)
	}
	return score
}

func TestSweptLimits(t *testing.T) {
	for _, highest := range []int{1, 2, 30, 39, 40, 41, 100, 1000, 1e6} {
		limits := limitsUpTo(highest)
		if len(limits) > sweepLimits || len(limits) < min(highest, sweepLimits) || limits[0] != 1 ||
			limits[len(limits)-1] != highest {
			t.Errorf("up to %d: %d limits, %v", highest, len(limits), limits)
		}
		if !slices.IsSorted(limits) || len(slices.Compact(slices.Clone(limits))) != len(limits) {
			t.Errorf("up to %d: %v", highest, limits)
		}
	}
}

// TestOracle checks a server whose throughput never falls with concurrency, so that the best
// result is known.
func TestOracle(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.Phases = []Phase{{Length: 3 * time.Second}, {Length: 3 * time.Second, Workers: 0.3}}
	})
	o, err := Sweep(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range o.Phases {
		workers := []int{10, 3}[i]
		if p.Smallest < workers || p.Smallest > workers+2 || p.Limit < p.Smallest ||
			math.Abs(float64(p.Good)/float64(300*workers)-1) > 0.02 {
			t.Errorf("phase %d: %+v", i, p)
		}
	}
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
	o, err := Sweep(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Score(mustRun(t, s, nil, 2)); err == nil ||
		!strings.Contains(err.Error(), "with seed 2 cannot be scored") {
		t.Error(err)
	}
}

func TestKeptOracle(t *testing.T) {
	s := steady(1500, func(s *Scenario) {
		s.Phases = []Phase{
			{Length: 2 * time.Second}, {Length: time.Second, Workers: 0.3},
		}
	})
	o, err := Sweep(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := o.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var kept Oracle
	if err := kept.UnmarshalBinary(data); err != nil || !reflect.DeepEqual(&kept, o) {
		t.Errorf("%v, or not what was written", err)
	}
	for _, bad := range [][]byte{nil, data[:len(data)/2], []byte("{}")} {
		if err := kept.UnmarshalBinary(bad); err == nil {
			t.Errorf("read %d bytes that are no oracle", len(bad))
		}
	}
}

func TestScoreAsJSON(t *testing.T) {
	text, err := json.Marshal(mustScore(t, steady(100, nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"scenario", "law", "seed", "goodput_pct", "phase_goodput_pct", "p99_ratio", "convergence_s",
		"limit_mean", "limit_cv", "refused", "false_refused", "late",
	} {
		if !strings.Contains(string(text), `"`+field+`":`) {
			t.Errorf("%s has no %s", text, field)
		}
	}
}

func TestSweepOnManyProcessors(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.Phases = []Phase{
			{Length: time.Second}, {Length: time.Second, Workers: 0.3},
		}
	})
	one, err := Sweep(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, processors := range []int{2, 100} {
		if many, err := SweepOn(processors, s, 1); err != nil || !reflect.DeepEqual(many, one) {
			t.Errorf("on %d processors: %+v, want %+v: %v", processors, many, one, err)
		}
	}
	s.SLO = -1
	_, want := Sweep(s, 1)
	if _, err := SweepOn(3, s, 1); err == nil || err.Error() != want.Error() {
		t.Errorf("of a bad scenario: %v, want %v", err, want)
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
