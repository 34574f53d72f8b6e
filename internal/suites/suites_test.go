package suites

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// TestRoundTrip checks that an encoded scenario parses to the same value, and that a seed
// always draws the same system.
func TestRoundTrip(t *testing.T) {
	all := All()
	for seed := range uint64(200) {
		for kind, draw := range Drawn {
			s := draw(seed)
			if !reflect.DeepEqual(s, draw(seed)) || !strings.HasPrefix(s.Name, kind) {
				t.Errorf("%s differs from itself", s.Name)
			}
			all = append(all, s)
		}
	}
	for _, s := range all {
		text := must.Have(json.Marshal(s))(t)
		again, err := sim.ParseScenario(s.Name, text)
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%v\n%+v\n%+v\n%s", err, s, again, text)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, s := range All() {
		if found, err := Lookup(s.Name); err != nil || !reflect.DeepEqual(found, s) || s.About == "" {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	for _, name := range []string{"random-7", "shared-8", Harm(9).Name} {
		if s, err := Lookup(name); err != nil || !strings.HasPrefix(s.Name, name) {
			t.Errorf("%s: %s, %v", name, s.Name, err)
		}
	}
	for name, want := range map[string]string{
		"nonsense": "want det-1.5x, exp-1.5x,", "slow3": "did you mean slow30?", "harm-9-other": "unknown", "harm-x": "unknown",
	} {
		if _, err := Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// A probe of little work takes long, and pays where the latency is far too high. Without such
// probes the limiters have 6,007 good answers here.
func TestProbesOfLittleLateWorkPay(t *testing.T) {
	s := must.Have(Lookup("shared-540-together"))(t)
	if r := must.Have(sim.Run(s, law.Setpoint{}, 501))(t); r.Good < 2000 {
		t.Errorf("%d good answers, want 2,000", r.Good)
	}
}

// TestResume compares a law that resumes from the state of an earlier run with one that starts
// afresh, on random systems with one limiter: first at their speed, and then with servers that have
// become slower by three meanwhile. -v prints the figures of docs/results/restart.md.
func TestResume(t *testing.T) {
	longtest.Skip(t)
	const parts = 3
	systems := 6
	if longtest.Full() {
		systems = 20
	}
	for _, speed := range []float64{1, 1.0 / 3} {
		var fresh, resumed [parts][]float64
		for seed := uint64(1); len(fresh[0]) < systems; seed++ {
			s := Random(seed)
			if s.Limiters > 1 {
				continue
			}
			learned := learn(t, s, seed)
			s.Phases = []sim.Phase{
				{Length: time.Second, Speed: speed}, {Length: 4 * time.Second, Speed: speed}, {Length: 15 * time.Second, Speed: speed},
			}
			oracle := must.Have(sim.Sweep(s, seed))(t)
			a, b := score(t, oracle, s, law.Setpoint{}, seed), score(t, oracle, s, law.Resume(law.Setpoint{}, learned), seed)
			for i := range parts {
				fresh[i], resumed[i] = append(fresh[i], a[i]), append(resumed[i], b[i])
			}
		}
		for i, part := range [parts]string{"second 1", "seconds 2 to 5", "seconds 6 to 20"} {
			t.Logf("speed %.2f, %s: afresh %.1f, least %.1f; resumed %.1f, least %.1f", speed, part,
				mean(fresh[i]), slices.Min(fresh[i]), mean(resumed[i]), slices.Min(resumed[i]))
		}
		if least := slices.Min(resumed[0]); speed == 1 && least < 80 {
			t.Errorf("%.1f%% of the oracle in the first second, want 80", least)
		}
		if a, b := mean(fresh[parts-1]), mean(resumed[parts-1]); b < a-3 {
			t.Errorf("speed %.2f: %.1f%% of the oracle after five seconds, and %.1f afresh", speed, b, a)
		}
	}
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// learn returns the knowledge of the default law at the end of a scenario.
func learn(t *testing.T, s sim.Scenario, seed uint64) law.Knowledge {
	t.Helper()
	var e errand
	r := must.Have(sim.Run(s, &e, seed))(t)
	return law.Learned(e.controller, r.Series[len(r.Series)-1].Limit)
}

// An errand is the default law, and keeps its controller.
type errand struct{ controller law.Controller }

func (e *errand) Controller(b law.Bounds) (c law.Controller, err error) {
	e.controller, err = law.Setpoint{}.Controller(b)
	return e.controller, err
}

func (*errand) Start() int { return law.Start(law.Setpoint{}) }

func score(t *testing.T, o *sim.Oracle, s sim.Scenario, l law.Law, seed uint64) []float64 {
	t.Helper()
	r := must.Have(sim.Run(s, l, seed))(t)
	score := must.Have(o.Score(r))(t)
	return score.Phases
}
