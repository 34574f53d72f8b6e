package metrics

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/throttle"
)

// ErrConfig matches every error about [Sources].
var ErrConfig = settings.ErrConfigOf("metrics")

// Sources has the sources that a reader shows. Limiters and throttles have names of their own; the
// key of a map names each other source. The zero Sources shows nothing.
type Sources struct {
	Limiters   []*weir.Limiter               // with names that differ: see weir.Config.Name
	Sets       map[string]*bulkhead.Set      // by name, as in the maps below
	Throttles  []*throttle.Throttle          // with names that differ: see throttle.Config.Name
	Pools      map[string]*pool.Pool         // see Sets
	Capacities map[string]*capacity.Capacity // see Sets
	Monitors   map[string]*load.Monitor      // see Sets
	Governors  map[string]*memory.Governor   // see Sets; a process has one at most

	// MaxKeys is how many keys of each set have series of their own, besides the keys of its
	// configuration. A key keeps its place until it is evicted, and for an hour at least. Then the
	// busiest key without series gets the place. Defaults to 100; below 0 means none.
	MaxKeys int
}

// defaultKeys makes 3,000 series for each set, and 8,000 with histograms. A Prometheus server holds
// a few million series.
const defaultKeys = 100

// check returns all errors of the sources together. A name that several kinds of sources use as the
// same label is one error.
func (s *Sources) check() error {
	var errs []error
	complain := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	taken := map[[2]string]string{} // the source with each value of a label
	take := func(of, kind, name, advice string) {
		value := [2]string{of, label.Clean(name)}
		if other, ok := taken[value]; ok {
			complain("%s %q and %s have the same name: %s", kind, name, other, advice)
		}
		taken[value] = fmt.Sprintf("%s %q", kind, name)
	}
	// Keys of a map differ, but two of their labels may be the same.
	key := func(kind string) func(string) {
		return func(name string) { take(kind, kind, name, "rename one") }
	}
	for i, l := range s.Limiters {
		if l == nil {
			complain("Limiters[%d] is nil: want a limiter that weir.New returned", i)
			continue
		}
		take("limiter", "limiter", l.Config().Name, "give each a weir.Config.Name of its own")
	}
	named(s.Sets, "Sets", complain, func(name string) {
		take("limiter", "set", name, "limiters and sets share the label \"limiter\": rename one")
	})
	for i, t := range s.Throttles {
		if t == nil {
			complain("Throttles[%d] is nil: want a throttle that throttle.New returned", i)
			continue
		}
		st := t.Snapshot()
		take("throttle", "throttle", st.Name, "give each a throttle.Config.Name of its own")
		for _, l := range []weir.Snapshot{st.Reads.Limiter, st.Writes.Limiter} {
			take("limiter", "side of a throttle", l.Name, "limiters and sides of throttles share the label \"limiter\": rename one")
		}
	}
	named(s.Pools, "Pools", complain, key("pool"))
	named(s.Capacities, "Capacities", complain, key("capacity"))
	named(s.Monitors, "Monitors", complain, key("monitor"))
	named(s.Governors, "Governors", complain, key("governor"))
	return errors.Join(errs...)
}

// named checks the sources of a map, in the order of their names.
func named[T any](sources map[string]*T, field string, complain func(string, ...any), take func(name string)) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		switch {
		case name == "":
			complain("%s has a source without a name: want one, which becomes a label", field)
		case sources[name] == nil:
			complain("%s[%q] is nil: want one that its package's New returned", field, name)
		default:
			take(name)
		}
	}
}
