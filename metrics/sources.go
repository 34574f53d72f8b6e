package metrics

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/throttle"
)

// ErrConfig matches every error about [Sources].
var ErrConfig = settings.ErrConfigOf("metrics")

// Sources are shown by a reader. Limiters and throttles have names of their own; the others get
// theirs here. The zero Sources shows nothing.
type Sources struct {
	Limiters   []*weir.Limiter               // with names that differ: see weir.Config.Name
	Sets       map[string]*bulkhead.Set      // by name, as all that follows
	Throttles  []*throttle.Throttle          // with names that differ: see throttle.Config.Name
	Pools      map[string]*pool.Pool         // see Sets
	Capacities map[string]*capacity.Capacity // see Sets
	Monitors   map[string]*load.Monitor      // see Sets
	Governors  map[string]*memory.Governor   // see Sets; a process has one at most

	// MaxKeys is how many keys of each set have series of their own, besides the keys of
	// its configuration. A key keeps its series until it is evicted; then, an hour
	// after it got them at the earliest, the busiest that has none gets its place. Defaults to
	// 100; below 0 means none.
	MaxKeys int
}

// defaultKeys is 3,000 series for each set, and 8,000 with histograms. A Prometheus server holds a
// few million.
const defaultKeys = 100

// check returns all errors of the sources together. A name that several kinds of sources use as the
// same label is one error.
func (s *Sources) check() error {
	var errs []error
	complain := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	limiters := map[string]string{} // what has the label's value
	take := func(taken map[string]string, kind, name, advice string) {
		if other, ok := taken[clean(name)]; ok {
			complain("%s %q and %s have the same name: %s", kind, name, other, advice)
		}
		taken[clean(name)] = fmt.Sprintf("%s %q", kind, name)
	}
	for i, l := range s.Limiters {
		if l == nil {
			complain("Limiters[%d] is nil: want a limiter that weir.New returned", i)
			continue
		}
		take(limiters, "limiter", l.Config().Name, "give each a weir.Config.Name of its own")
	}
	named(s.Sets, "Sets", complain, func(name string) {
		take(limiters, "set", name, "limiters and sets share the label \"limiter\": rename one")
	})
	throttles := map[string]string{}
	for i, t := range s.Throttles {
		if t == nil {
			complain("Throttles[%d] is nil: want a throttle that throttle.New returned", i)
			continue
		}
		st := t.Snapshot()
		take(throttles, "throttle", st.Name, "give each a throttle.Config.Name of its own")
		for _, l := range []weir.Snapshot{st.Reads.Limiter, st.Writes.Limiter} {
			take(limiters, "side of a throttle", l.Name, "limiters and sides of throttles share the label \"limiter\": rename one")
		}
	}
	named(s.Pools, "Pools", complain, distinct(take, "pool"))
	named(s.Capacities, "Capacities", complain, distinct(take, "capacity"))
	named(s.Monitors, "Monitors", complain, distinct(take, "monitor"))
	named(s.Governors, "Governors", complain, distinct(take, "governor"))
	return errors.Join(errs...)
}

// distinct takes names of one kind. Keys of a map differ, but two long ones might not once they are
// cut.
func distinct(take func(taken map[string]string, kind, name, advice string), kind string) func(string) {
	taken := map[string]string{}
	return func(name string) { take(taken, kind, name, "rename one") }
}

// named checks sources that have their names here, in order.
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
