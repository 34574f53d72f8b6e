package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

func TestScenariosThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":        "is empty: want a scenario",
		"a: [":    "f.yaml:1:4: is no YAML: ",
		"name: 5": "f.yaml: name is 5: want a text",
		"- a":     "f.yaml: scenario is a list: want an object",
	} {
		file := filepath.Join(t.TempDir(), "f.yaml")
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// tiny is a scenario of a second.
func tiny() sim.Scenario {
	return sim.Scenario{
		Name: "tiny", Arrivals: sim.Poisson{Rate: 100}, Work: sim.Constant{Mean: 10 * time.Millisecond},
		Server: sim.WorkerPool{Workers: 1}, SLO: 100 * time.Millisecond, Phases: []sim.Phase{{Length: time.Second}},
	}
}

func TestOutcomesComeInOrder(t *testing.T) {
	laws := []law.Law{law.Fixed{Limit: 3}, law.Fixed{Limit: 5}}
	jobs := Jobs([]sim.Scenario{tiny(), tiny()}, laws, 7, 20)
	var cells Cells
	done, next := 0, 0
	err := Run(t.Context(), jobs, func(n int) { done = max(done, n) }, func(o Outcome) error {
		if o.Job.Index != next/20 || o.Job.Seed != uint64(7+next%20) || len(o.Scores) != 2 {
			t.Errorf("outcome %d is of scenario %d and seed %d", next, o.Job.Index, o.Job.Seed)
		}
		next++
		cells.Add(o)
		return nil
	})
	if err != nil || next != 40 || done == 0 {
		t.Errorf("%d outcomes, progress up to %d: %v", next, done, err)
	}
	if n := len(cells.List()); n != 4 {
		t.Errorf("%d cells, want one for each scenario and law", n)
	}
}

func TestRunEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	jobs := Jobs([]sim.Scenario{tiny()}, []law.Law{law.Fixed{}}, 1, 1000)
	err := Run(ctx, jobs, nil, func(Outcome) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	jobs[0].Scenario.SLO = -1
	var refused *InputError
	if err := Run(t.Context(), jobs, nil, nil); !errors.As(err, &refused) {
		t.Errorf("a bad scenario: %v", err)
	}
}

func TestSummaries(t *testing.T) {
	var cells Cells
	for scenario, goodput := range [][]float64{{90, 100}, {80, 90}, {60, 80}} {
		for seed, delta := range []float64{-10, 0} {
			var o Outcome
			o.Job.Index = scenario
			for i, v := range goodput {
				o.Scores = append(o.Scores, sim.Score{
					Law: []string{"a", "b"}[i], Goodput: v + delta, Phases: []float64{v, v / 2}, P99Ratio: float64(1 + scenario), Seed: uint64(seed),
				})
			}
			cells.Add(o)
		}
	}
	all := cells.Summaries()
	a, b := all[0], all[1]
	for name, pair := range map[string][2]float64{
		"mean":        {a.Goodput, (85 + 75 + 55) / 3.0},
		"interval":    {float64(a.Interval), 4.303 * 15.275 / math.Sqrt(3)},
		"p10":         {a.Tenth, 55 + 0.2*20},
		"worst":       {a.Worst, 55},
		"worst phase": {a.WorstPhase, (45 + 40 + 30) / 3.0},
		"steady":      {a.Steady, 50.0 / 55},
		"p99x":        {a.P99Ratio, 2},
		"margin":      {float64(b.Margin), 40 / 3.0},
	} {
		if math.Abs(pair[0]-pair[1]) > 0.01 {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	text, err := json.Marshal(a)
	if err != nil || !strings.Contains(string(text), `"margin":null`) || !strings.Contains(string(text), `"p10_pct":59`) {
		t.Errorf("the first law: %s, %v", text, err)
	}
}

func TestStudent(t *testing.T) {
	for freedom, want := range map[float64]float64{1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 22: 2.074, 199: 1.972} {
		if got := student(freedom); math.Abs(got-want) > 0.01*want {
			t.Errorf("student(%v) is %v, want %v", freedom, got, want)
		}
	}
}

func TestScores(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "scores.jsonl")
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	line := must.Have(json.Marshal(sim.Score{Scenario: "shop", Law: "theirs", Seed: 7, Goodput: 90}))(t)
	all, err := ReadScores([]string{write(string(line) + "\n")})
	if got := all.Of("shop", 7); err != nil || len(got) != 1 || got[0].Law != "theirs" || got[0].Goodput != 90 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := all.Of("shop", 8); len(got) != 0 {
		t.Errorf("%+v of another seed", got)
	}
	for text, want := range map[string]string{
		"":                                 "has no scores: want lines as weir sim suite --json prints them",
		string(line) + "\n{":               "score 2: unexpected EOF",
		`{"scenario":"x"}`:                 "score 1 has no scenario or no law",
		`{"scenario":"x","goodput":1}`:     `score 1: json: unknown field "goodput"`,
		`{"scenario":"x","law":"y"}` + "]": "score 2: ",
	} {
		if _, err := ReadScores([]string{write(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestHarm: a phase with 200 possible answers counts with its worst seed, others are pooled,
// and the start is separate.
func TestHarm(t *testing.T) {
	var cells Cells
	for seed, good := range [][]int{{30, 190, 90, 0}, {50, 200, 110, 0}} {
		cells.Add(Outcome{Scores: []sim.Score{
			{
				Law: "a", Seed: uint64(seed), Regime: "x", Starts: 1, StartGoodput: 40, Goodput: 90, Phases: []float64{40, 95, 90, 90}, Jain: 0.9,
				Harm: &sim.Comparison{Good: good, Possible: []sim.BaselinePhase{{Unlimited: 100}, {Twenty: 200, Unlimited: 10}, {Unlimited: 150, Twenty: 50 + seed*140}, {}}},
			},
			{Law: "b", Seed: uint64(seed), Regime: "x", Goodput: 90, Phases: []float64{90, 90, 90, 90}},
		}})
	}
	a, b := cells.List()[0], cells.List()[1]
	if got, want := a.Share(), 100*200.0/300; got != want { // 90+110 of the better of 150+150 and 50+190
		t.Errorf("share %v, want %v", got, want)
	}
	if got := a.StartShare(); got != 40 {
		t.Errorf("start %v, want 40", got)
	}
	if !math.IsNaN(b.Share()) || !math.IsNaN(b.StartShare()) {
		t.Errorf("without a baseline: %v, %v", b.Share(), b.StartShare())
	}
	s := cells.Summaries()[0]
	if s.Harmless != 0 || float64(s.HarmWorst) != a.Share() || s.StartGoodput != 40 || s.StartWorst != 40 || s.Jain != 0.9 || s.WorstPhase != 90 {
		t.Errorf("%+v", s)
	}
	if s := cells.Summaries()[1]; !math.IsNaN(float64(s.HarmWorst)) || !math.IsNaN(float64(s.Harmless)) || !math.IsNaN(float64(s.Jain)) || !math.IsNaN(float64(s.StartGoodput)) {
		t.Errorf("without a baseline: %+v", s)
	}
}

// TestHarmOfASeed: a good seed does not hide a bad one if it has enough answers.
func TestHarmOfASeed(t *testing.T) {
	var h harms
	for _, good := range []int{150, 250} {
		h.add(&sim.Comparison{Good: []int{good}, Possible: []sim.BaselinePhase{{Unlimited: 200}}})
	}
	if got := h.least(); got != 75 {
		t.Errorf("%v, want 75", got)
	}
}

func TestRegimes(t *testing.T) {
	var cells Cells
	for i, regime := range []string{"", "x", ""} {
		o := Outcome{}
		o.Job.Index = i
		o.Scores = []sim.Score{{Law: "a", Regime: regime, Goodput: 80, Phases: []float64{80}}, {Law: "b", Regime: regime, Goodput: 90 + float64(i), Phases: []float64{80}}}
		cells.Add(o)
	}
	all := cells.Regimes()
	if len(all) != 4 || all[0].Regime != "others" || all[0].Scenarios != 2 || all[2].Regime != "x" || all[2].Law != "a" || all[3].Goodput != 91 || all[3].Margin != 11 {
		t.Errorf("%+v", all)
	}
}
