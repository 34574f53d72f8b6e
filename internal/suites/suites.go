package suites

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/sim"
)

//go:embed scenarios/*.json
var files embed.FS

// named lists the named suite, in the order of reports.
var named = []string{
	"det-1.5x", "exp-1.5x", "logn-1.5x", "exp-under.8", "ps-1.5x", "usl-2x", "kata-2x",
	"slow30", "workers30", "base-x3", "gc-pause", "err-fast",
	"step-3x", "mmpp", "diurnal", "retry-storm", "bimodal", "8clients",
	"low-rate", "big-200", "slo-tight", "slo-loose", "cancel30",
}

// acceptance lists the scenarios that a law must pass, separate from the suite.
var acceptance = []string{"accept-overload", "accept-slowdown", "accept-fanout", "accept-replicas"}

// others lists the scenarios that belong to no suite.
var others = []string{"kata", "priorities-3x"}

func names() []string { return slices.Concat(named, acceptance, others) }

// Named returns the named suite: situations in which overload-control laws are known to
// fail, each with a service of about 1000 requests per second unless its name says
// otherwise.
func Named() []sim.Scenario { return load(named...) }

// Acceptance returns the four scenarios that a law must pass. In "accept-overload" a limiter starts
// far above the service's capacity, in the midst of an overload. In "accept-slowdown" the work
// becomes slower but the server has room for all of it, so every refusal is false. The same holds
// in "accept-fanout", where calls come in batches to a server without a concurrency bound. In
// "accept-replicas" eight limiters that share an overloaded server start together.
func Acceptance() []sim.Scenario { return load(acceptance...) }

// All returns every scenario with a file. Two of them belong to no suite. In "kata" latency is base
// + k n² with a concurrency of n, and the limit must settle. In "priorities-3x" clients of all four
// priorities send three times the load that the server can do, for a minute and a half.
func All() []sim.Scenario { return load(names()...) }

func load(names ...string) []sim.Scenario {
	list := make([]sim.Scenario, len(names))
	for i, name := range names {
		file := path.Join("scenarios", name+".json")
		text, err := files.ReadFile(file)
		if err == nil {
			list[i], err = sim.ParseScenario(file, text)
		}
		if err != nil {
			panic(fmt.Sprintf("suites: %v", err)) // a test reads them all
		}
	}
	return list
}

// Drawn has the functions that draw systems, by the name of the suite. The same seed draws the same
// system.
var Drawn = map[string]func(seed uint64) sim.Scenario{"random": Random, "harm": Harm, "shared": Shared, "pushback": Pushback}

// Lookup returns the scenario of that name: a scenario of the package, or a drawn one. "random-7",
// "harm-7", "shared-7" and "pushback-7" have seed 7, with or without the suffix of their regime. An
// error suggests a similar name, or lists all names.
func Lookup(name string) (sim.Scenario, error) {
	all := names()
	if slices.Contains(all, name) {
		return load(name)[0], nil
	}
	kind, rest, _ := strings.Cut(name, "-")
	number, _, _ := strings.Cut(rest, "-")
	if seed, err := strconv.ParseUint(number, 10, 64); err == nil && Drawn[kind] != nil {
		if s := Drawn[kind](seed); name == s.Name || name == kind+"-"+number {
			return s, nil
		}
	}
	advice := nearest.Advice(name, append(all, "random-N", "harm-N", "shared-N", "pushback-N with a seed N"))
	return sim.Scenario{}, fmt.Errorf("unknown scenario %q: %s", name, advice)
}
