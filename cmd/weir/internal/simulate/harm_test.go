package simulate

import (
	"math"
	"testing"

	"github.com/weir-go/weir/sim"
)

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
