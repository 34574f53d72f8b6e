package sim

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/internal/nearest"
)

//go:embed scenarios/*.json
var files embed.FS

// suite lists the scenarios of the package, in the order of reports.
var suite = []string{
	"det-1.5x", "exp-1.5x", "logn-1.5x", "exp-under.8", "ps-1.5x", "usl-2x", "kata-2x",
	"slow30", "workers30", "base-x3", "gc-pause", "err-fast",
	"step-3x", "mmpp", "diurnal", "retry-storm", "bimodal", "8clients",
	"low-rate", "big-200", "slo-tight", "slo-loose", "cancel30",
}

// acceptance lists the scenarios that a law must pass, separate from the suite.
var acceptance = []string{"accept-overload", "accept-slowdown", "accept-fanout", "accept-replicas"}

// Named returns the named suite: situations in which overload-control laws are known to
// fail, each with a service of about 1000 requests per second unless its name says
// otherwise.
func Named() []Scenario { return load(suite) }

// Acceptance returns the four scenarios that a law must pass. In "accept-overload" a limiter
// starts far above the service's capacity, in the midst of an overload. In "accept-slowdown"
// the work becomes slower but there is room for all of it, so every refusal is a false one;
// the same holds in "accept-fanout", where calls come in batches to a server without a
// concurrency bound. In "accept-replicas" eight limiters that share an overloaded server
// start together.
func Acceptance() []Scenario { return load(acceptance) }

// Priorities returns a service with a minute and a half of three times its load from clients
// of all four priorities, in a shifting mix. The load of the highest priority alone always
// fits.
func Priorities() Scenario { return load([]string{"priorities-3x"})[0] }

// Kata returns the simulation that is the first test of a law that holds a latency: latency
// is base + k n² with a concurrency of n, and the limit must settle.
func Kata() Scenario { return load([]string{"kata"})[0] }

func load(names []string) []Scenario {
	list := make([]Scenario, len(names))
	for i, name := range names {
		file := path.Join("scenarios", name+".json")
		text, err := files.ReadFile(file)
		if err == nil {
			list[i], err = ParseScenario(file, text)
		}
		if err != nil {
			panic(fmt.Sprintf("sim: a scenario of our own: %v", err)) // a test reads them all
		}
	}
	return list
}

// Lookup returns the scenario of that name among the package's, or a drawn one: "random-7",
// "harm-7" and "shared-7" are [Random] from the [DefaultRanges], [Harm] and [Shared] with
// seed 7, with or without the suffix of their regime. An error lists the names.
func Lookup(name string) (Scenario, error) {
	all := slices.Concat([]string{"kata"}, suite, acceptance, []string{"priorities-3x"})
	if slices.Contains(all, name) {
		return load([]string{name})[0], nil
	}
	if s, ok := drawnAs(name); ok {
		return s, nil
	}
	return Scenario{}, fmt.Errorf("sim: unknown scenario %q: %s", name, nearest.Advice(name, append(all, "random-N", "harm-N", "shared-N with a seed N")))
}

// drawnAs draws the system of that name.
func drawnAs(name string) (s Scenario, ok bool) {
	kind, rest, _ := strings.Cut(name, "-")
	number, _, _ := strings.Cut(rest, "-")
	seed, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return s, false
	}
	switch kind {
	case "random":
		s = Random(DefaultRanges, seed)
	case "harm":
		s = Harm(seed)
	case "shared":
		s = Shared(seed)
	}
	return s, name == s.Name || name == kind+"-"+number && s.Name != ""
}
