package simulate

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/chart"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// outcomes runs two laws on scenarios.
func outcomes(t *testing.T, scenarios ...sim.Scenario) (all []Outcome) {
	t.Helper()
	must.Do(t, Run(t.Context(), Jobs(scenarios, []law.Law{law.Fixed{Limit: 5}, law.Fixed{Limit: 60}}, 3, 1), nil, func(o Outcome) error {
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
	if len(phases) != 3 || phases[1] != (chart.Phase{Name: "fault", From: 2, To: 3, Shaded: true}) || c.Rows[0][1].Phases != nil {
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
	for i, can := range []float64{250, 250, 150, 150, 250, 250} {
		if y := best.Points[i].Y; y < 0.85*can || y > 1.05*can {
			t.Errorf("the oracle has %v good answers a second, want nearly the %v of the server", y, can)
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
