package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/chart"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

func TestScenariosThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "is empty: want a scenario",
		"a: [":                               "f.yaml:1:4: is not YAML: ",
		"name: 5":                            "f.yaml: name is 5: want a text",
		"name: \xff":                         "f.yaml: is no text in UTF-8",
		"- a":                                "f.yaml: scenario is a list: want an object",
		"a: 1\n---\nb: 2":                    "f.yaml:3:1: has more after its end: want one document",
		"a: &b [x]":                          "f.yaml:1:4: has an anchor",
		"limiters: 010":                      `f.yaml:1:11: has an octal number ("010"): want a number without a 0 before it, or quotes around a text`,
		"a: " + strings.Repeat("[", 100_000): "f.yaml: has 100002 names, values and signs: want 30000 at most",
	} {
		file := must.Write(t, filepath.Join(t.TempDir(), "f.yaml"), text)
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
	next := 0
	err := Run(t.Context(), jobs, func(o Outcome) error {
		if o.Job.Index != next/20 || o.Job.Seed != uint64(7+next%20) || len(o.Scores) != 2 {
			t.Errorf("outcome %d is of scenario %d and seed %d", next, o.Job.Index, o.Job.Seed)
		}
		next++
		cells.Add(o)
		return nil
	})
	if err != nil || next != 40 {
		t.Errorf("%d outcomes: %v", next, err)
	}
	if n := len(cells); n != 4 {
		t.Errorf("%d cells, want one for each scenario and law", n)
	}
}

func TestRunEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	jobs := Jobs([]sim.Scenario{tiny()}, []law.Law{law.Fixed{}}, 1, 1000)
	err := Run(ctx, jobs, func(Outcome) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	jobs[0].Scenario.SLO = -1
	var refused *InputError
	if err := Run(t.Context(), jobs, nil); !errors.As(err, &refused) {
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

// A law that did not run in each scenario of the first one has no margin, and one without a good
// answer is not unsteady.
func TestSummariesOfFewScores(t *testing.T) {
	var cells Cells
	for scenario, law := range []string{"a", "b", "b"} {
		o := Outcome{Scores: []sim.Score{{Law: law, Phases: []float64{0}}}}
		o.Job.Index = scenario
		cells.Add(o)
	}
	all := cells.Summaries()
	if b := all[1]; !math.IsNaN(float64(b.Margin)) || b.Steady != 1 || b.Scenarios != 2 {
		t.Errorf("%+v", b)
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
	write := func(text string) string { return must.Write(t, filepath.Join(t.TempDir(), "scores.jsonl"), text) }
	line := must.Have(json.Marshal(sim.Score{Scenario: "shop", Law: "theirs", Seed: 7, Goodput: 90}))(t)
	other := must.Have(json.Marshal(sim.Score{Scenario: "shop", Law: "theirs", Seed: 8}))(t)
	shop := tiny()
	shop.Name = "shop"
	job := Jobs([]sim.Scenario{shop}, []law.Law{law.Fixed{}}, 7, 1)[0]
	job.With = must.Have(ReadScores([]string{write(string(line) + "\n"), write(string(other))}))(t)
	if o, err := job.run(1); err != nil || len(o.Scores) != 2 || o.Scores[1].Law != "theirs" || o.Scores[1].Goodput != 90 {
		t.Errorf("%+v, %v, want the score of the same seed", o.Scores, err)
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
	a, b := cells[0], cells[1]
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

// outcomes runs two laws on scenarios.
func outcomes(t *testing.T, scenarios ...sim.Scenario) (all []Outcome) {
	t.Helper()
	must.Do(t, Run(t.Context(), Jobs(scenarios, []law.Law{law.Fixed{Limit: 5}, law.Fixed{Limit: 60}}, 3, 1), func(o Outcome) error {
		all = append(all, o)
		return nil
	}))
	return all
}

// overloaded is a server for 250 requests a second that gets 300, and for a while has only
// three of its five workers.
func overloaded() sim.Scenario {
	return sim.Scenario{
		Name: "overloaded", Arrivals: sim.Poisson{Rate: 300}, Work: sim.Constant{Mean: 20 * time.Millisecond},
		Server: sim.WorkerPool{Workers: 5}, SLO: 100 * time.Millisecond, Sample: 100 * time.Millisecond,
		Phases: []sim.Phase{{Length: 2 * time.Second}, {Name: "fault", Length: time.Second, Workers: 0.6}, {Length: time.Second}},
	}
}

// charted returns the plots of the first scenario by the text beside their axis.
func charted(t *testing.T, scenarios ...sim.Scenario) (*chart.Chart, map[string]chart.Plot) {
	t.Helper()
	c := must.Have(ChartRun(outcomes(t, scenarios...)))(t)
	plots := map[string]chart.Plot{}
	for _, row := range c.Rows {
		plots[row[0].Y] = row[0]
	}
	return c, plots
}

func TestChartHasAPanelForEachSeries(t *testing.T) {
	once := overloaded()
	once.Name, once.Phases = "once", []sim.Phase{{Length: 2 * time.Second}}
	c, plots := charted(t, overloaded(), once)
	var panels []string
	for _, row := range c.Rows {
		if len(row) != 2 {
			t.Fatalf("%d columns, want one for each scenario", len(row))
		}
		panels = append(panels, row[0].Y)
	}
	if want := []string{"limit", "in flight", "throughput, 1/s", "goodput, 1/s", "p99, ms"}; !slices.Equal(panels, want) {
		t.Errorf("rows %q, want %q", panels, want)
	}
	if first := c.Rows[0]; first[0].Title != "overloaded, seed 3" || first[1].Title != "once, seed 3" || plots["p99, ms"].X != "time, s" {
		t.Errorf("titles %q and %q, below %q", first[0].Title, first[1].Title, plots["p99, ms"].X)
	}
	phases := plots["limit"].Phases
	if len(phases) != 3 || phases[0].Name != "phase 1" || phases[1] != (chart.Phase{Name: "fault", From: 2, To: 3, Shaded: true}) || c.Rows[0][1].Phases != nil {
		t.Errorf("want three phases, and none where there is but one: %+v, %+v", phases, c.Rows[0][1].Phases)
	}
	for name, plot := range plots {
		laws := plot.Lines[len(plot.Lines)-2:]
		if laws[0].Name != "fixed(limit=5)" || laws[1].Name != "fixed(limit=60)" || laws[1].Colour != 1 || len(laws[0].Points) != 40 {
			t.Errorf("%s: want a line of 40 samples for each law: %+v", name, laws)
		}
	}
}

func TestGoodputStandsBesideTheOracle(t *testing.T) {
	_, plots := charted(t, overloaded())
	goodput := plots["goodput, 1/s"]
	best := goodput.Lines[0]
	if best.Dashes != chart.Dashed || len(best.Points) != 6 {
		t.Fatalf("want a dashed line with a step for each phase: %+v", best)
	}
	limits := plots["limit"].Lines[0].Points
	for i, can := range []float64{250, 250, 150, 150, 250, 250} {
		if y := best.Points[i].Y; y < 0.85*can || y > 1.05*can {
			t.Errorf("the oracle has %v good answers a second, want nearly the %v of the server", y, can)
		}
		if workers := can / 50; limits[i].Y < workers || limits[i].Y > 6*workers || limits[i].X != []float64{0, 2, 2, 3, 3, 4}[i] {
			t.Errorf("a limit of %v from %v on, want one to six times the %v workers", limits[i].Y, limits[i].X, workers)
		}
	}
	// 1.2 s after the start 60 are in flight, and an answer takes 240 ms or more.
	for i, at := range goodput.Lines[2].Points {
		if throughput := plots["throughput, 1/s"].Lines[1].Points[i]; at.X > 1.5 && (at.Y > 20 || throughput.Y < 90) {
			t.Errorf("at %v: %v good answers of %v, want late ones", at.X, at.Y, throughput.Y)
		}
	}
}

func TestLatencyStandsBesideTheSLO(t *testing.T) {
	_, plots := charted(t, overloaded())
	latency := plots["p99, ms"]
	slo := latency.Lines[0]
	if slo.Dashes != chart.Dotted || !slices.Equal(slo.Points, []chart.Point{{Y: 100}, {X: 4, Y: 100}}) {
		t.Errorf("want a dotted line at 100 ms: %+v", slo)
	}
	if latency.YMax != 400 {
		t.Errorf("the axis ends at %v ms, want four times the SLO: latency is far above", latency.YMax)
	}
}

func TestChartOfARunWithoutASample(t *testing.T) {
	short := overloaded()
	short.Sample = time.Minute
	if _, err := ChartRun(outcomes(t, short)); err == nil || !strings.Contains(err.Error(), "overloaded is too short to draw") {
		t.Errorf("%v", err)
	}
}

// A scenario without clients has one kind, which a law can learn from too.
func TestClientsAreToldWhereNoneAreNamed(t *testing.T) {
	told := withClients(sim.Scenario{}, func(c *sim.Client) { c.Deadlines = true })
	if len(told.Clients) != 1 || !told.Clients[0].Deadlines {
		t.Errorf("clients %+v, want one with deadlines", told.Clients)
	}
	named := sim.Scenario{Clients: []sim.Client{{Name: "shop"}}}
	told = withClients(named, func(c *sim.Client) { c.Deadlines = true })
	if named.Clients[0].Deadlines || !told.Clients[0].Deadlines {
		t.Error("the clients of the other laws are told, too")
	}
}

// A log with one arrival time has no rate, and lasts no time.
func TestScenariosOfOneArrival(t *testing.T) {
	file := must.Write(t, filepath.Join(t.TempDir(), "log.csv"), "at,took\n0,0.01\n0,0.02\n")
	recorded := Recording{File: file, Reader: sim.TraceReader{Arrival: "at", Service: "took"}}
	all, err := recorded.Scenarios(tiny())
	if err != nil || len(all) != 1 {
		t.Fatalf("%d scenarios, %v", len(all), err)
	}
	if r, err := sim.Run(all[0], law.Fixed{}, 1); err != nil || r.Requests != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// One request that may be in time is enough: by its kind of client, a faster phase or itself.
func TestScenariosWithARequestInTime(t *testing.T) {
	file := must.Write(t, filepath.Join(t.TempDir(), "log.csv"), "0,5\n1,6\n")
	system := func(slo, patient time.Duration) sim.Scenario {
		return sim.Scenario{Server: sim.WorkerPool{Workers: 1}, SLO: slo, Clients: []sim.Client{{SLO: patient}}}
	}
	for _, test := range []struct {
		system sim.Scenario
		phases []sim.Phase
		good   bool
	}{
		{system(4*time.Second, 0), nil, false},
		{system(5*time.Second, 0), nil, true},
		{system(time.Second, 5*time.Second), nil, true},
		{system(4*time.Second, 0), []sim.Phase{{Speed: 2}}, true},
	} {
		if _, err := (Recording{File: file, Phases: test.phases}).Scenarios(test.system); err == nil != test.good {
			t.Errorf("SLO %v, clients %v, phases %v: %v", test.system.SLO, test.system.Clients, test.phases, err)
		}
	}
}

func TestScenariosThatLastTooLong(t *testing.T) {
	file := must.Write(t, filepath.Join(t.TempDir(), "log.csv"), "0,0.01\n1,0.01\n")
	for _, rate := range []float64{1e-8, 1e-12} { // the second one is longer than a Duration
		recorded := Recording{File: file, Rates: []float64{rate}}
		if _, err := recorded.Scenarios(tiny()); err == nil || !strings.Contains(err.Error(), "lasts more than 10000h") {
			t.Errorf("%v times as fast: %v", rate, err)
		}
	}
}
