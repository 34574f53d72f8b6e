package peers

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

var (
	suite  = flag.String("suite", "", "compare on these systems: named, gates, random or a scenario's name")
	seeds  = flag.Int("seeds", 3, "how many seeds for each system")
	first  = flag.Uint64("seed", 1, "the first of them")
	random = flag.Int("random", 24, "how many systems the suite random has")
	system = flag.Uint64("system", 1, "the seed of the first of them")
	laws   = flag.String("laws", "elastic fixed(60) band(target=200ms) little gradient gradient2 vegas aimd", "our laws, by spaces, as law.Parse reads them")
	lines  = flag.String("scores", "", "write every score to this file, a line each")
	each   = flag.Bool("each", false, "print the goodput of each scenario as well")
)

// TestSuite prints the peers and our laws in one table. It is skipped without -suite.
//
//	go test -run Suite -suite named -seeds 3 -timeout 1h
func TestSuite(t *testing.T) {
	if *suite == "" {
		t.Skip("needs -suite")
	}
	var ours []law.Law
	for _, text := range strings.Fields(*laws) {
		l, err := law.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		ours = append(ours, l)
	}
	systems := chosen(t)
	var mu sync.Mutex
	var scores []sim.Score
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	t.Run("", func(t *testing.T) {
		for _, s := range systems {
			for seed := *first; seed < *first+uint64(*seeds); seed++ {
				t.Run(fmt.Sprintf("%s/%d", s.Name, seed), func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					some := compare(t, s, ours, seed)
					mu.Lock()
					defer mu.Unlock()
					scores = append(scores, some...)
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	report(t, systems, scores)
}

func chosen(t *testing.T) (systems []sim.Scenario) {
	switch *suite {
	case "named":
		return sim.Named()
	case "gates":
		return sim.Gates()
	case "random":
		for i := range uint64(*random) {
			systems = append(systems, sim.Random(sim.DefaultRanges, *system+i))
		}
		return systems
	}
	s, err := sim.Lookup(*suite)
	if err != nil {
		t.Fatal(err)
	}
	return []sim.Scenario{s}
}

// compare scores every peer and law on a system.
func compare(t *testing.T, s sim.Scenario, ours []law.Law, seed uint64) (scores []sim.Score) {
	oracle, err := sim.Sweep(s, seed)
	if err != nil {
		t.Fatal(err)
	}
	var results []*sim.Result
	for _, p := range peers {
		results = append(results, p.run(t, s, seed))
	}
	for _, l := range ours {
		r, err := sim.Run(s, l, seed)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	for _, r := range results {
		score, err := oracle.Score(r)
		if err != nil {
			t.Fatal(err)
		}
		scores = append(scores, score)
	}
	return scores
}

// TestRepeats runs each peer twice: its code reads no other clock than that of the bubble.
func TestRepeats(t *testing.T) {
	s, err := sim.Lookup("gate-overload")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		first, again := p.run(t, s, 1), p.run(t, s, 1)
		if first.Tally != again.Tally || first.Good == 0 {
			t.Errorf("%s: %+v and then %+v", p.name, first.Tally, again.Tally)
		}
	}
}

// report prints, for each law, the means over scenarios of what its seeds had on average.
func report(t *testing.T, systems []sim.Scenario, scores []sim.Score) {
	slices.SortFunc(scores, func(a, b sim.Score) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Law, b.Law), cmp.Compare(a.Seed, b.Seed))
	})
	if *lines != "" {
		file, err := os.Create(*lines)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, s := range scores {
			if err := json.NewEncoder(file).Encode(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	byLaw := map[string][]summary{}
	for _, s := range systems {
		some := map[string][]sim.Score{}
		for _, score := range scores {
			if score.Scenario == s.Name {
				some[score.Law] = append(some[score.Law], score)
			}
		}
		for name, list := range some {
			byLaw[name] = append(byLaw[name], summarize(list))
		}
	}
	var names []string
	for name := range byLaw {
		names = append(names, name)
	}
	goodput := func(s summary) float64 { return s.goodput }
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(mean(byLaw[b], goodput), mean(byLaw[a], goodput)), cmp.Compare(a, b))
	})
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	defer w.Flush()
	fmt.Fprintf(w, "| law or peer\t| mean\t| min\t| worst phase\t| worst seed\t| p99x median\t| convergence, s\t| false refusals, %%\t| late, %%\t|\n")
	fmt.Fprintf(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|\n")
	for _, name := range names {
		list := byLaw[name]
		fmt.Fprintf(w, "| %s\t| %.1f\t| %.1f\t| %.1f\t| %.1f\t| %.2f\t| %.1f\t| %.2f\t| %.2f\t|\n", name,
			mean(list, goodput), slices.Min(values(list, goodput)),
			mean(list, func(s summary) float64 { return s.worstPhase }),
			slices.Min(values(list, func(s summary) float64 { return s.worstSeed })),
			median(values(list, func(s summary) float64 { return s.p99 })),
			mean(list, func(s summary) float64 { return s.convergence }),
			100*mean(list, func(s summary) float64 { return s.falseRefused }),
			100*mean(list, func(s summary) float64 { return s.late }))
	}
	if !*each {
		return
	}
	fmt.Fprintf(w, "\n| goodput\t| %s\t|\n|---%s\t|\n", strings.Join(names, "\t| "), strings.Repeat("\t|---", len(names)))
	for i, s := range systems {
		fmt.Fprintf(w, "| %s", s.Name)
		for _, name := range names {
			fmt.Fprintf(w, "\t| %.1f", byLaw[name][i].goodput)
		}
		fmt.Fprintf(w, "\t|\n")
	}
}

// A summary is a law on a scenario, over its seeds.
type summary struct{ goodput, worstPhase, worstSeed, p99, convergence, falseRefused, late float64 }

func summarize(scores []sim.Score) (s summary) {
	s.worstSeed = 100
	n := float64(len(scores))
	for _, score := range scores {
		s.goodput += score.Goodput / n
		s.worstPhase += slices.Min(score.Phases) / n
		s.worstSeed = min(s.worstSeed, score.Goodput)
		s.p99 += score.P99Ratio / n
		s.convergence += score.Convergence / n
		s.falseRefused += score.FalseRefused / n
		s.late += score.Late / n
	}
	return s
}

func values(list []summary, of func(summary) float64) (all []float64) {
	for _, s := range list {
		all = append(all, of(s))
	}
	return all
}

func mean(list []summary, of func(summary) float64) (sum float64) {
	for _, v := range values(list, of) {
		sum += v / float64(len(list))
	}
	return sum
}

func median(all []float64) float64 {
	slices.Sort(all)
	n := len(all)
	return (all[(n-1)/2] + all[n/2]) / 2
}
