package suites

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/oraclecache"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

var (
	fleets  = flag.Bool("fleets", false, "measure limiters that learn together, for docs/results/fleet.md: ten minutes")
	first   = flag.Uint64("first", 1, "the first system of -fleets")
	oracles = flag.String("oracles", "", "keep the oracles of -fleets in this `folder`")
)

// TestFleets compares limiters that learn together with the same limiters alone, and with one
// limiter for all.
func TestFleets(t *testing.T) {
	if !*fleets {
		t.Skip("without -fleets")
	}
	draw := map[string][]sim.Scenario{}
	seeds := map[string][]uint64{}
	for seed := *first; seed < *first+100; seed++ {
		if s := Random(seed); s.Limiters > 1 {
			draw["random"], seeds["random"] = append(draw["random"], s), append(seeds["random"], seed)
		}
		if seed < *first+60 {
			draw["shared"], seeds["shared"] = append(draw["shared"], Shared(seed)), append(seeds["shared"], seed)
		}
	}
	for _, suite := range []string{"shared", "random"} {
		for _, how := range []struct {
			name string
			law  func() law.Law
			one  bool
		}{
			{"one limiter", func() law.Law { return law.Setpoint{} }, true},
			{"alone", func() law.Law { return law.Setpoint{} }, false},
			{"together, 50 ms", func() law.Law { return &talk{delay: 50 * time.Millisecond} }, false},
			{"together, 1 s", func() law.Law { return &talk{delay: time.Second} }, false},
		} {
			var good, jain []float64
			for i, s := range draw[suite] {
				if how.one {
					s = joined(s)
				}
				o := must.Have(oraclecache.Cache(*oracles).Sweep(2, s, seeds[suite][i]))(t)
				score := must.Have(o.Score(run(t, s, how.law(), seeds[suite][i])))(t)
				good = append(good, score.Goodput)
				if score.Jain > 0 {
					jain = append(jain, score.Jain)
				}
			}
			slices.Sort(good)
			t.Logf("%s, %s: mean %.1f, p10 %.1f, worst %.1f; Jain %.3f", suite, how.name, mean(good), good[len(good)/10], good[0], mean(jain))
		}
	}
}

// TestLearningTogether: limiters that learn together serve more than alone, and more evenly. In
// TestFleets are the figures.
func TestLearningTogether(t *testing.T) {
	for _, name := range []string{"shared-47", "random-36", "random-90"} {
		s := must.Have(Lookup(name))(t)
		alone, together := run(t, s, law.Setpoint{}, 1), run(t, s, &talk{delay: time.Second}, 1)
		t.Logf("%s: good answers: alone %d, together %d", s.Name, alone.Good, together.Good)
		if 100*together.Good < 105*alone.Good {
			t.Errorf("%s: %d good answers, and %d alone: want 5%% more", s.Name, together.Good, alone.Good)
		}
	}
}

// TestStoreLost compares a minute in which the store is down with the same minute of limiters that
// were alone from the beginning.
func TestStoreLost(t *testing.T) {
	longtest.Skip(t)
	const before, lost = 30 * time.Second, time.Minute
	var ratios []float64
	sum, base := 0, 0
	systems := 30
	if longtest.Full() {
		systems = 100
	}
	for seed := range uint64(systems) {
		s := Shared(seed)
		load := s.Phases[0].Load
		s.Phases = []sim.Phase{{Length: before, Load: load}, {Length: lost, Load: load}}
		alone := run(t, s, law.Setpoint{}, seed).Phases[1].Good
		left := run(t, s, &talk{delay: time.Second, lost: before, back: before + lost}, seed).Phases[1].Good
		sum, base, ratios = sum+left, base+alone, append(ratios, float64(left)/float64(max(1, alone)))
	}
	slices.Sort(ratios)
	t.Logf("goodput without the store, of that alone: %.3f; tenth system %.3f, worst %.3f", float64(sum)/float64(base), ratios[systems/10], ratios[0])
	if float64(sum) < 0.99*float64(base) {
		t.Errorf("%d good answers without the store, and %d alone: want 0.99", sum, base)
	}
}

func run(t *testing.T, s sim.Scenario, l law.Law, seed uint64) *sim.Result {
	t.Helper()
	return must.Have(sim.Run(s, l, seed))(t)
}

// joined is the same system with one limiter in place of all that have a law.
func joined(s sim.Scenario) sim.Scenario {
	rest, fixed, limit := 0.0, 0.0, 0
	for i := range s.Limiters {
		share := 1.0
		if s.LimiterShares != nil {
			share = s.LimiterShares[i]
		}
		if s.LimiterFixed != nil && s.LimiterFixed[i] > 0 {
			fixed, limit = share, s.LimiterFixed[i]
		} else {
			rest += share
		}
	}
	s.Limiters, s.LimiterShares, s.LimiterStarts, s.LimiterSkew, s.LimiterFixed = 1, nil, nil, nil, nil
	if limit > 0 {
		s.Limiters, s.LimiterShares, s.LimiterFixed = 2, []float64{rest, fixed}, []int{0, limit}
	}
	return s
}
