package simulate

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/weir-go/weir/sim"
)

// MostPlotted is how many scenarios fit beside one another in a plot.
const MostPlotted = 4

// A panel is one of the plots over time.
type panel struct {
	title string
	of    func(sim.Point) float64
	limit bool // has the oracle's limit
}

var panels = []panel{
	{"limit", func(p sim.Point) float64 { return float64(p.Limit) }, true},
	{"in flight", func(p sim.Point) float64 { return float64(p.InFlight) }, true},
	{"throughput, 1/s", func(p sim.Point) float64 { return p.Throughput }, false},
	{"p99, ms", func(p sim.Point) float64 { return p.P99.Seconds() * 1000 }, false},
}

// PlotRun draws limit, in flight, throughput and p99 over time, a column for each outcome and
// a line for each law.
func PlotRun(file string, outcomes []Outcome) error {
	plots := make([][]*plot.Plot, len(panels))
	var laws []string
	for _, o := range outcomes {
		for _, r := range o.Results {
			if !slices.Contains(laws, r.Law) {
				laws = append(laws, r.Law)
			}
		}
	}
	var key []keyEntry
	for row, panel := range panels {
		for _, o := range outcomes {
			p, entries, err := panel.plot(o, laws)
			if err != nil {
				return err
			}
			if row == 0 {
				key = joined(key, entries)
				p.Title.Text = fmt.Sprintf("%s, seed %d", o.Job.Scenario.Name, o.Job.Seed)
			}
			if row == len(panels)-1 {
				p.X.Label.Text = "time, s"
			}
			plots[row] = append(plots[row], p)
		}
	}
	width := 8 * vg.Inch
	if len(outcomes) > 1 {
		width = vg.Length(len(outcomes)) * 5 * vg.Inch
	}
	return writePlots(file, plots, key, width, 9*vg.Inch)
}

// joined adds the entries that the key does not have.
func joined(key, entries []keyEntry) []keyEntry {
	for _, entry := range entries {
		if !slices.ContainsFunc(key, func(had keyEntry) bool { return had.name == entry.name }) {
			key = append(key, entry)
		}
	}
	return key
}

// plot draws the panel and returns the key to its lines. A law's colour is that of its
// place in laws.
func (d panel) plot(o Outcome, laws []string) (*plot.Plot, []keyEntry, error) {
	p := newPlot("", "", d.title)
	var lines []*plotter.Line
	var key []keyEntry
	if d.limit {
		oracle, err := plotter.NewLine(oracleLimit(o))
		if err != nil {
			return nil, nil, err
		}
		oracle.Dashes, oracle.Width = []vg.Length{5, 3}, 1
		lines = append(lines, oracle)
		key = append(key, keyEntry{"the oracle: the best constant limit of each phase", oracle})
	}
	for _, r := range o.Results {
		points := plotter.XYs{}
		for _, at := range r.Series {
			points = append(points, plotter.XY{X: at.At.Seconds(), Y: d.of(at)})
		}
		if len(points) == 0 {
			return nil, nil, fmt.Errorf("%s is too short to draw: want a sample, or --every, of less than %v", r.Scenario, Length(o.Job.Scenario))
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, nil, err
		}
		line.Color, line.Width = hue(slices.Index(laws, r.Law)), 1.2
		lines = append(lines, line)
		key = append(key, keyEntry{r.Law, line})
	}
	top := 1.0
	for _, line := range lines {
		_, _, _, highest := line.DataRange()
		top = max(top, 1.2*highest) // with room for the names of phases
	}
	if err := shade(p, o, top); err != nil {
		return nil, nil, err
	}
	for _, line := range lines {
		p.Add(line)
	}
	p.Y.Min, p.Y.Max = 0, top
	return p, key, nil
}

// oracleLimit is the best limit of each phase, of all limiters together.
func oracleLimit(o Outcome) (points plotter.XYs) {
	for i, phase := range o.Results[0].Phases {
		limit := float64(o.Oracle.Phases[i].Limit)
		points = append(points, plotter.XY{X: phase.Start.Seconds(), Y: limit}, plotter.XY{X: (phase.Start + phase.Length).Seconds(), Y: limit})
	}
	return points
}

// shade sets every other phase apart, and names them.
func shade(p *plot.Plot, o Outcome, top float64) error {
	var names plotter.XYLabels
	for i, phase := range o.Results[0].Phases {
		from, to := phase.Start.Seconds(), (phase.Start + phase.Length).Seconds()
		if i%2 == 1 {
			area, err := plotter.NewPolygon(plotter.XYs{{X: from, Y: 0}, {X: to, Y: 0}, {X: to, Y: top}, {X: from, Y: top}})
			if err != nil {
				return err
			}
			area.Color, area.Width = color.NRGBA{120, 120, 120, 40}, 0
			p.Add(area)
		}
		names.XYs = append(names.XYs, plotter.XY{X: from, Y: top})
		names.Labels = append(names.Labels, phaseName(phase, i))
	}
	p.X.Min, p.X.Max = 0, Length(o.Job.Scenario).Seconds()
	if len(names.Labels) == 1 {
		return nil
	}
	labels, err := plotter.NewLabels(names)
	if err != nil {
		return err
	}
	for i := range labels.TextStyle {
		style := &labels.TextStyle[i]
		style.Font.Variant, style.Font.Size = "Sans", 8
		style.Color, style.YAlign = color.Gray{90}, draw.YTop
	}
	labels.Offset = vg.Point{X: 3, Y: -2}
	p.Add(labels)
	return nil
}

func phaseName(p sim.PhaseResult, i int) string {
	if p.Name == "" {
		return fmt.Sprintf("phase %d", i+1)
	}
	return p.Name
}
