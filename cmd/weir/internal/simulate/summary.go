package simulate

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/weir-go/weir/sim"
)

// A Cell holds the results of one law in one scenario, over its seeds.
type Cell struct {
	Scenario, Law string
	Mean          sim.Score // over all seeds, figure by figure
	Worst         float64   // goodput of the worst seed
	index         int       // of the scenario; names may be equal
	seeds         int
	harms         harms
}

func (c *Cell) add(s sim.Score) {
	if c.seeds == 0 {
		c.Mean = sim.Score{Phases: make([]float64, len(s.Phases)), Regime: s.Regime, Starts: s.Starts}
		c.Worst = math.Inf(1)
	}
	c.seeds++
	of := figuresOf(&s)
	for i, mean := range figuresOf(&c.Mean) {
		*mean += (*of[i] - *mean) / float64(c.seeds)
	}
	c.harms.add(s.Harm)
	c.Worst = min(c.Worst, s.Goodput)
}

// figuresOf returns the figures of a score that have a mean over seeds.
func figuresOf(s *sim.Score) []*float64 {
	list := []*float64{
		&s.Goodput, &s.Uncapped, &s.P99Ratio, &s.Convergence, &s.LimitMean, &s.LimitCV,
		&s.Refused, &s.FalseRefused, &s.Probed, &s.Pushed, &s.Late, &s.StartGoodput, &s.Jain,
	}
	for i := range s.Phases {
		list = append(list, &s.Phases[i])
	}
	return list
}

// scored returns the goodput of the phases after the start, or of all phases if the start has all.
func (c *Cell) scored() []float64 {
	if c.Mean.Starts < len(c.Mean.Phases) {
		return c.Mean.Phases[c.Mean.Starts:]
	}
	return c.Mean.Phases
}

// Cells are the results of outcomes, grouped by scenario, in the order of scenarios and laws.
type Cells []*Cell

// Add adds the scores of an outcome.
func (c *Cells) Add(o Outcome) {
	for _, s := range o.Scores {
		i := slices.IndexFunc(*c, func(cell *Cell) bool { return cell.index == o.Job.Index && cell.Law == s.Law })
		if i < 0 {
			i = len(*c)
			*c = append(*c, &Cell{Scenario: s.Scenario, Law: s.Law, index: o.Job.Index})
		}
		(*c)[i].add(s)
	}
}

// grouped returns the cells of each key, in the order in which the keys appear.
func grouped(cells []*Cell, key func(*Cell) string) (groups [][]*Cell) {
	for _, cell := range cells {
		i := slices.IndexFunc(groups, func(group []*Cell) bool { return key(group[0]) == key(cell) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], cell)
	}
	return groups
}

// A Summary holds the results of one law in a suite. Unless noted otherwise a figure is the mean
// over scenarios, and the figure of a scenario is the mean over its seeds.
type Summary struct {
	Law            string  `json:"law"`
	Scenarios      int     `json:"scenarios"`
	Goodput        float64 `json:"goodput_pct"`
	Interval       Figure  `json:"goodput_interval"` // 95% confidence interval of the mean
	Uncapped       float64 `json:"goodput_uncapped_pct"`
	Tenth          float64 `json:"p10_pct"`              // tenth percentile of the scenarios
	Worst          float64 `json:"worst_pct"`            // of the scenarios
	WorstPhase     float64 `json:"worst_phase_pct"`      // mean over scenarios
	Steady         float64 `json:"worst_seed_over_mean"` // in the scenario with the smallest ratio
	P99Ratio       float64 `json:"p99_ratio"`            // median
	Convergence    float64 `json:"convergence_s"`
	LimitCV        float64 `json:"limit_cv"`
	FalseRefused   float64 `json:"false_refused"`
	Probed         float64 `json:"refused_probing"`
	Pushed         float64 `json:"pushed"`
	Late           float64 `json:"late"`
	Margin         Figure  `json:"margin"`          // goodput above the first law's, scenario by scenario
	MarginInterval Figure  `json:"margin_interval"` // as Interval

	// These figures are for suites of harm and of shared systems.
	Regime       string `json:"regime"`            // of the scenarios, empty for all
	HarmFirst    Figure `json:"harm_p1_pct"`       // first percentile of Cell.Share
	HarmWorst    Figure `json:"harm_worst_pct"`    // smallest Cell.Share
	Harmless     Figure `json:"harmless"`          // the share of scenarios with a Cell.Share of 97% or more
	StartGoodput Figure `json:"start_goodput_pct"` // of the start
	StartWorst   Figure `json:"start_harm_worst_pct"`
	Jain         Figure `json:"jain"`
	JainWorst    Figure `json:"jain_worst"`
}

// A Figure is a number, or NaN if it is missing: null in JSON.
type Figure float64

// MarshalJSON implements [json.Marshaler].
func (f Figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// Summaries sums up the results of each law in all scenarios.
func (c Cells) Summaries() []Summary { return summaries(c, "") }

// Regimes sums up each law in each regime, in the order of regimes and laws.
func (c Cells) Regimes() (all []Summary) {
	for _, cells := range grouped(c, func(c *Cell) string { return c.Mean.Regime }) {
		all = append(all, summaries(cells, cmp.Or(cells[0].Mean.Regime, "others"))...)
	}
	return all
}

// summaries sums up the results of each law. A law with another number of scenarios than the first
// law has no margin, because scenarios may have their own laws.
func summaries(cells []*Cell, regime string) (all []Summary) {
	laws := grouped(cells, func(c *Cell) string { return c.Law })
	for _, cells := range laws {
		s := summary(cells)
		s.Regime = regime
		if first := laws[0]; s.Law != first[0].Law && len(cells) == len(first) {
			gain := make([]float64, len(cells))
			for i := range cells {
				gain[i] = cells[i].Mean.Goodput - first[i].Mean.Goodput
			}
			var margin float64
			margin, s.MarginInterval = meanWithin(gain)
			s.Margin = Figure(margin)
		}
		all = append(all, s)
	}
	return all
}

// summary sums up one law.
func summary(cells []*Cell) Summary {
	none := Figure(math.NaN())
	s := Summary{Law: cells[0].Law, Scenarios: len(cells), Steady: 1, Margin: none, MarginInterval: none}
	goodput := column(cells, func(c *Cell) float64 { return c.Mean.Goodput })
	s.Goodput, s.Interval = meanWithin(goodput)
	s.Tenth, s.Worst = quantile(goodput, 0.1), slices.Min(goodput)
	s.P99Ratio = quantile(column(cells, func(c *Cell) float64 { return c.Mean.P99Ratio }), 0.5)
	average := func(of func(*Cell) float64) float64 { mean, _ := meanWithin(column(cells, of)); return mean }
	s.WorstPhase = average(func(c *Cell) float64 { return slices.Min(c.scored()) })
	s.Convergence = average(func(c *Cell) float64 { return c.Mean.Convergence })
	s.LimitCV = average(func(c *Cell) float64 { return c.Mean.LimitCV })
	s.Uncapped = average(func(c *Cell) float64 { return c.Mean.Uncapped })
	s.Probed = average(func(c *Cell) float64 { return c.Mean.Probed })
	s.FalseRefused = average(func(c *Cell) float64 { return c.Mean.FalseRefused })
	s.Pushed = average(func(c *Cell) float64 { return c.Mean.Pushed })
	s.Late = average(func(c *Cell) float64 { return c.Mean.Late })
	for _, c := range cells {
		if c.Mean.Goodput > 0 {
			s.Steady = min(s.Steady, c.Worst/c.Mean.Goodput)
		}
	}
	shares, jain := column(cells, (*Cell).Share), func(c *Cell) float64 { return ifAny(c.Mean.Jain > 0, c.Mean.Jain) }
	s.HarmFirst, s.HarmWorst = Figure(quantile(shares, 0.01)), Figure(quantile(shares, 0))
	s.Harmless = harmless(shares)
	s.StartGoodput = Figure(average(func(c *Cell) float64 { return ifAny(c.Mean.Starts > 0, c.Mean.StartGoodput) }))
	s.StartWorst = Figure(quantile(column(cells, (*Cell).StartShare), 0))
	s.Jain, s.JainWorst = Figure(average(jain)), Figure(quantile(column(cells, jain), 0))
	return s
}

// ifAny returns an optional value, NaN if it is missing.
func ifAny(there bool, value float64) float64 {
	if !there {
		return math.NaN()
	}
	return value
}

// column returns the values of the cells that have one.
func column(cells []*Cell, of func(*Cell) float64) (values []float64) {
	for _, c := range cells {
		if v := of(c); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// quantile interpolates between the values around the rank. It is NaN without values.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := q * float64(len(sorted)-1)
	below := int(rank)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (rank-float64(below))*(sorted[above]-sorted[below])
}

// meanWithin returns the mean, NaN without values, and half the width of its 95% confidence
// interval by Student's t, which is NaN for a single value.
func meanWithin(values []float64) (mean float64, within Figure) {
	n := float64(len(values))
	if n == 0 {
		mean = math.NaN()
	}
	for _, v := range values {
		mean += v / n
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	if n < 2 {
		return mean, Figure(math.NaN())
	}
	return mean, Figure(student(n-1) * math.Sqrt(squares/(n-1)/n))
}

// student approximates the 97.5% quantile of Student's t by the expansion of Cornish and
// Fisher around the normal quantile, to within 1%. For 1 and 2 degrees of freedom, where the
// expansion is far off, it is exact.
func student(freedom float64) float64 {
	switch freedom {
	case 1:
		return 12.706
	case 2:
		return 4.303
	}
	const z = 1.959964
	const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
	return z + (z3+z)/(4*freedom) + (5*z5+16*z3+3*z)/(96*freedom*freedom) +
		(3*z7+19*z5+17*z3-15*z)/(384*freedom*freedom*freedom)
}
