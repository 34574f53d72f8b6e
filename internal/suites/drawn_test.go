package suites

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

func TestRandomSystems(t *testing.T) {
	servers, works := map[string]int{}, map[string]int{}
	replicated := 0
	for seed := range uint64(300) {
		s := Random(seed)
		servers[reflect.TypeOf(s.Server).Name()]++
		works[reflect.TypeOf(s.Work).Name()]++
		if len(s.Phases) != 3 || s.SLO < 50*time.Millisecond || s.Phases[0].Name != "" {
			t.Errorf("%+v", s)
		}
		if s.Regime != "" {
			replicated++
			if s.Limiters < 2 || s.Limiters > 16 {
				t.Errorf("%d limiters", s.Limiters)
			}
		}
	}
	if len(servers) != 3 || len(works) != 4 || replicated < 80 || replicated > 120 {
		t.Errorf("servers %v, works %v, %d of 300 with replicas", servers, works, replicated)
	}
}

// TestHarmSystems checks that the systems stay within their documented ranges.
func TestHarmSystems(t *testing.T) {
	seen := map[string]int{}
	shortest, longest := time.Hour, time.Duration(0)
	for seed := range uint64(60) {
		s := Harm(seed)
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
		if b, ok := s.Arrivals.(sim.Batches); ok && (b.Size < 2 || b.Size > 200) {
			t.Errorf("%s: %+v", s.Name, b)
		}
		if o, ok := s.Arrivals.(sim.OnOff); ok {
			if duty := float64(o.On) / float64(o.On+o.Off); duty < 0.0099 || duty > 0.601 {
				t.Errorf("%s: a duty of %v: %+v", s.Name, duty, o)
			}
		}
		if s.Limiters > 64 || s.Limiter != (sim.Limiter{}) {
			t.Errorf("%s: %d limiters, %+v", s.Name, s.Limiters, s.Limiter)
		}
		r := must.Have(sim.Run(s, law.Fixed{Limit: 1}, 1))(t)
		if r.Requests > 200_000 || r.Requests < 20 {
			t.Errorf("%s: %d requests", s.Name, r.Requests)
		}
		drawn := s.Work.Draw(new(sim.Rand))
		shortest, longest = min(shortest, drawn), max(longest, drawn)
	}
	if shortest > 200*time.Microsecond || longest < 2*time.Minute {
		t.Errorf("work from %v to %v", shortest, longest)
	}
	for _, r := range regimes {
		if seen[r.name] != 60/len(regimes) {
			t.Errorf("%d systems of %s", seen[r.name], r.name)
		}
	}
}

func TestSharedSystems(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		s := Shared(seed)
		if s.Limiters < 2 || s.Limiters > 16 || len(s.LimiterSkew) != s.Limiters || slices.Max(s.LimiterSkew) > 0.02 {
			t.Errorf("%+v", s)
		}
		seen[s.Regime]++
	}
	if len(seen) != 6 {
		t.Errorf("%v", seen)
	}
}

func TestPushbackSystems(t *testing.T) {
	seen := map[string]int{}
	named, dated := 0, 0
	for seed := range uint64(60) {
		s := Pushback(seed)
		seen[s.Regime]++
		first, last := s.Phases[0].Refuse, s.Phases[len(s.Phases)-1].Refuse
		if first.Above < 10 || (last.Above > first.Above) != (s.Regime == "grows") ||
			(s.Limiters > 1) != (s.Regime == "replicas") || s.Clients[len(s.Clients)-1].Over != (s.Regime == "quota") {
			t.Errorf("%+v", s)
		}
		if first.RetryAfter > 0 {
			named++
		}
		if s.Clients[0].Deadlines {
			dated++
		}
		if r, err := sim.Run(s, law.Fixed{Limit: 2 * first.Above}, 1); err != nil || s.Limiters < 2 && r.Pushed == 0 {
			t.Errorf("%s: nothing is refused: %v", s.Name, err)
		}
	}
	if len(seen) != 4 || named < 20 || named > 40 || dated < 20 || dated > 40 {
		t.Errorf("regimes %v, %d name a time to come back, %d have deadlines", seen, named, dated)
	}
}
