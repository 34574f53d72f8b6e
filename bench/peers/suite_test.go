package peers

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/weir-go/weir/internal/oraclecache"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/sim"
)

var (
	suite   = flag.String("suite", "", "run the peers on these systems: named, acceptance, random, harm, shared or a scenario's name")
	seeds   = flag.Int("seeds", 3, "how many seeds for each system")
	first   = flag.Uint64("seed", 1, "the first of them, and the seed of the first system of random, harm and shared")
	systems = flag.Int("random", 24, "how many systems the suites random, harm and shared have")
	oracles = flag.String("oracles", "", "keep oracles in this folder; that of weir sim suite --oracles will do")
	names   = flag.String("peers", "", "run only the peers whose names match this regular expression")
	scores  = flag.String("scores", "", "write the scores to this file instead of standard output")
)

// TestSuite writes the scores of the peers, a line of JSON each, for weir sim suite --with.
// It is skipped without -suite.
//
//	go test -run Suite -suite named -seeds 3 -scores peers.jsonl -timeout 1h
func TestSuite(t *testing.T) {
	if *suite == "" {
		t.Skip("needs -suite")
	}
	those := named(append(netflixPeers(t), peers...))
	var mu sync.Mutex
	var all []sim.Score
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	t.Run("", func(t *testing.T) {
		for _, s := range chosen(t) {
			for seed := *first; seed < *first+uint64(*seeds); seed++ {
				t.Run(fmt.Sprintf("%s/%d", s.Name, seed), func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					some := scored(t, those, s, seed)
					mu.Lock()
					defer mu.Unlock()
					all = append(all, some...)
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	slices.SortStableFunc(all, func(a, b sim.Score) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Seed, b.Seed))
	})
	write(t, all)
}

func chosen(t *testing.T) []sim.Scenario {
	switch draw := suites.Drawn[*suite]; {
	case draw != nil:
		return drawn(draw)
	case *suite == "named":
		return suites.Named()
	case *suite == "acceptance":
		return suites.Acceptance()
	}
	s, err := suites.Lookup(*suite)
	if err != nil {
		t.Fatal(err)
	}
	return []sim.Scenario{s}
}

func drawn(draw func(seed uint64) sim.Scenario) (all []sim.Scenario) {
	for i := range uint64(*systems) {
		all = append(all, draw(*first+i))
	}
	return all
}

// named returns the peers selected by -peers.
func named(all []peer) (some []peer) {
	wanted := regexp.MustCompile(*names)
	for _, p := range all {
		if wanted.MatchString(p.name) {
			some = append(some, p)
		}
	}
	return some
}

// scored scores peers on a system.
func scored(t *testing.T, peers []peer, s sim.Scenario, seed uint64) (all []sim.Score) {
	oracle, err := oraclecache.Cache(*oracles).Sweep(1, s, seed)
	if err != nil {
		t.Fatal(err)
	}
	var baseline *sim.Baseline
	if *suite == "harm" {
		if baseline, err = sim.BaselineOf(s, seed); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range peers {
		result := p.run(t, s, seed)
		score, err := oracle.Score(result)
		if err == nil && baseline != nil {
			score.Harm, err = baseline.Compare(result)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, score)
	}
	return all
}

func write(t *testing.T, all []sim.Score) {
	out := io.Writer(os.Stdout)
	if *scores != "" {
		file, err := os.Create(*scores)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		out = file
	}
	lines := json.NewEncoder(out)
	for _, s := range all {
		if err := lines.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRepeats runs each peer twice: its code reads only the clock of the bubble.
func TestRepeats(t *testing.T) {
	s, err := suites.Lookup("accept-overload")
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
