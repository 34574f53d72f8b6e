package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/chart"
	"github.com/weir-go/weir/sim"
)

// MostPlotted is the largest number of scenarios side by side in a chart.
const MostPlotted = 4

// A panel is one of the plots over time.
type panel struct {
	name  string // on the command line
	title string // beside the axis
	of    func(sim.Point) float64
	guide func(Outcome) []chart.Line // for comparison with the laws
	most  func(Outcome) float64      // the end of the axis
}

var panels = []panel{
	{"limit", "limit", func(p sim.Point) float64 { return float64(p.Limit) }, oracleLimit, nil},
	{"in-flight", "in flight", func(p sim.Point) float64 { return float64(p.InFlight) }, oracleLimit, nil},
	{"throughput", "throughput, 1/s", func(p sim.Point) float64 { return p.Throughput }, nil, nil},
	{"goodput", "goodput, 1/s", func(p sim.Point) float64 { return p.Good }, oracleGoodput, nil},
	{"latency", "p99, ms", func(p sim.Point) float64 { return milliseconds(p.P99) }, slo, mostLatency},
}

// Panels returns the names of ChartRun's panels.
func Panels() (names []string) {
	for _, p := range panels {
		names = append(names, p.name)
	}
	return names
}

// ChartRun draws the named panels over time, or all Panels without names. Each outcome has a
// column, and each law a line. A result without points is an error.
func ChartRun(outcomes []Outcome, named ...string) (*chart.Chart, error) {
	shown := panels
	if len(named) > 0 {
		shown = slices.DeleteFunc(slices.Clone(panels), func(p panel) bool { return !slices.Contains(named, p.name) })
	}
	var laws, scenarios []string
	for _, o := range outcomes {
		if !slices.Contains(scenarios, o.Job.Scenario.Name) {
			scenarios = append(scenarios, o.Job.Scenario.Name)
		}
		for _, r := range o.Results {
			if !slices.Contains(laws, r.Law) {
				laws = append(laws, r.Law)
			}
		}
	}
	c := &chart.Chart{
		Title: fmt.Sprintf("%s on %s, over time", strings.Join(laws, ", "), strings.Join(scenarios, ", ")),
		Width: 660, Height: 120, Rows: make([][]chart.Plot, len(shown)),
	}
	if len(outcomes) > 1 {
		c.Width = 400
	}
	for row, panel := range shown {
		for _, o := range outcomes {
			p, err := panel.plot(o, laws)
			if err != nil {
				return nil, err
			}
			if row == 0 {
				p.Title = fmt.Sprintf("%s, seed %d", o.Job.Scenario.Name, o.Job.Seed)
			}
			if row == len(shown)-1 {
				p.X = "time, s"
			}
			c.Rows[row] = append(c.Rows[row], p)
		}
	}
	return c, nil
}

// plot draws the panel. A law's colour is its position in laws.
func (d panel) plot(o Outcome, laws []string) (chart.Plot, error) {
	p := chart.Plot{Y: d.title, XMax: Length(o.Job.Scenario).Seconds(), YMax: 1, Phases: phases(o)}
	if d.guide != nil {
		p.Lines = d.guide(o)
	}
	for _, r := range o.Results {
		line := chart.Line{Name: r.Law, Colour: slices.Index(laws, r.Law)}
		for _, at := range r.Series {
			line.Points = append(line.Points, chart.Point{X: at.At.Seconds(), Y: d.of(at)})
		}
		if len(line.Points) == 0 {
			return p, fmt.Errorf("%s is too short to draw: want a sample, or --every, of less than %v", r.Scenario, Length(o.Job.Scenario))
		}
		p.Lines = append(p.Lines, line)
	}
	for _, line := range p.Lines {
		for _, at := range line.Points {
			p.YMax = max(p.YMax, 1.2*at.Y) // with space for the names of phases
		}
	}
	if d.most != nil {
		p.YMax = min(p.YMax, d.most(o))
	}
	return p, nil
}

// mostLatency returns four times the SLO. Without this bound, a law that does not control latency
// would flatten the lines of all other laws.
func mostLatency(o Outcome) float64 { return 4 * milliseconds(o.Job.Scenario.SLO) }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// oracleLimit is the best limit of each phase, summed over all limiters.
func oracleLimit(o Outcome) []chart.Line {
	return oracle(o, func(best sim.OraclePhase, _ time.Duration) float64 { return float64(best.Limit) })
}

// oracleGoodput is the mean goodput of each phase with the best limit.
func oracleGoodput(o Outcome) []chart.Line {
	return oracle(o, func(best sim.OraclePhase, length time.Duration) float64 { return float64(best.Good) / length.Seconds() })
}

func oracle(o Outcome, of func(sim.OraclePhase, time.Duration) float64) []chart.Line {
	line := chart.Line{Name: "the oracle: the best constant limit of each phase", Dashes: chart.Dashed}
	for i, phase := range o.Results[0].Phases {
		y := of(o.Oracle.Phases[i], phase.Length)
		line.Points = append(line.Points,
			chart.Point{X: phase.Start.Seconds(), Y: y},
			chart.Point{X: (phase.Start + phase.Length).Seconds(), Y: y})
	}
	return []chart.Line{line}
}

// slo returns a line at the time that a client waits, unless its kind or its request has another
// time.
func slo(o Outcome) []chart.Line {
	at := milliseconds(o.Job.Scenario.SLO)
	return []chart.Line{{
		Name: "the SLO: how long a client waits", Dashes: chart.Dotted,
		Points: []chart.Point{{X: 0, Y: at}, {X: Length(o.Job.Scenario).Seconds(), Y: at}},
	}}
}

// phases names the phases and shades every second one, if the scenario has several phases.
func phases(o Outcome) (all []chart.Phase) {
	if len(o.Results[0].Phases) == 1 {
		return nil
	}
	for i, phase := range o.Results[0].Phases {
		all = append(all, chart.Phase{
			Name: cmp.Or(phase.Name, fmt.Sprintf("phase %d", i+1)),
			From: phase.Start.Seconds(), To: (phase.Start + phase.Length).Seconds(), Shaded: i%2 == 1,
		})
	}
	return all
}
