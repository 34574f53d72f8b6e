package metrics

import (
	"maps"
	"slices"
	"sync"

	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/pool"
)

// A Measurement is one value of an [Instrument], or one distribution.
type Measurement struct {
	Instrument *Instrument // what was measured
	Values     []string    // of Instrument.Labels, in their order. They are shared: do not change them

	Value     float64             // of a gauge or a counter
	Histogram *histogram.Snapshot // of a histogram; nil otherwise
}

// A Reader reads its sources. Make one with [New]. It is safe for concurrent use, by any number of
// readers.
type Reader struct {
	limiters   []*limiter
	sets       []*set
	throttles  []*throttled
	pools      []owned[*pool.Pool]
	capacities []owned[*capacity.Capacity]
	monitors   []owned[*load.Monitor]
	governors  []owned[*memory.Governor]
}

// owned is a source with its name as a label.
type owned[T any] struct {
	source T
	labels []string
}

// New returns a reader. The error matches [ErrConfig] and has all that is wrong. Names are
// read once: an update that renames a limiter does not rename its series.
func New(s Sources) (*Reader, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.MaxKeys == 0 {
		s.MaxKeys = defaultKeys
	}
	r := &Reader{
		pools: owners(s.Pools), capacities: owners(s.Capacities),
		monitors: owners(s.Monitors), governors: owners(s.Governors),
	}
	for _, l := range s.Limiters {
		r.limiters = append(r.limiters, newLimiter(l))
	}
	for _, o := range owners(s.Sets) {
		r.sets = append(r.sets, newSet(o, max(0, s.MaxKeys)))
	}
	for _, t := range s.Throttles {
		r.throttles = append(r.throttles, newThrottled(t))
	}
	return r, nil
}

// owners returns the sources in the order of their names.
func owners[T any](sources map[string]T) (all []owned[T]) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		all = append(all, owned[T]{sources[name], []string{clean(name)}})
	}
	return all
}

// Series calls yield with each instrument that Read may use and the name of its source, as
// an exporter declares them beforehand. It reads nothing.
func (r *Reader) Series(yield func(i *Instrument, source string)) {
	each := func(instruments []*Instrument, labels []string) {
		for _, i := range instruments {
			yield(i, labels[0])
		}
	}
	for _, l := range r.limiters {
		each(forLimiter.all(), l.labels)
	}
	for _, s := range r.sets {
		each(forLimiter.all(), s.labels)
		each(forKey.all(), s.labels)
		each(forSet.all(), s.labels)
	}
	for _, t := range r.throttles {
		each(forThrottle.all(), t.labels)
		for _, name := range t.limiters {
			each(forLimiter.all(), []string{name})
		}
	}
	for _, p := range r.pools {
		each(forPool.all(), p.labels)
	}
	for _, c := range r.capacities {
		each(forCapacity.all(), c.labels)
	}
	for _, m := range r.monitors {
		each(forMonitor.all(), m.labels)
	}
	for _, g := range r.governors {
		each(forGovernor.all(), g.labels)
	}
}

// Read reads all sources and calls yield with each point, one at a time. Points of one instrument
// differ in their values.
func (r *Reader) Read(yield func(Measurement)) {
	out := output(yield)
	for _, l := range r.limiters {
		l.read(out)
	}
	for _, s := range r.sets {
		s.read(out)
	}
	for _, t := range r.throttles {
		t.read(out)
	}
	for _, p := range r.pools {
		readPool(out, p)
	}
	for _, c := range r.capacities {
		readCapacity(out, c)
	}
	for _, m := range r.monitors {
		readMonitor(out, m)
	}
	for _, g := range r.governors {
		readGovernor(out, g)
	}
}

// output takes points.
type output func(Measurement)

func (o output) number(i *Instrument, value float64, labels []string) {
	o(Measurement{Instrument: i, Values: labels, Value: value})
}

// with is number with more labels.
func (o output) with(i *Instrument, value float64, labels []string, more ...string) {
	o.number(i, value, join(labels, more...))
}

// histogram leaves out one that is not kept.
func (o output) histogram(i *Instrument, h *histogram.Snapshot, labels []string) {
	if h != nil {
		o(Measurement{Instrument: i, Values: labels, Histogram: h})
	}
}

// join returns labels with more of them, and leaves the first slice alone.
func join(labels []string, more ...string) []string { return slices.Concat(labels, more) }

// truth is 1 or 0.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// set is a bulkhead.Set, and which of its keys have series.
type set struct {
	owned[*bulkhead.Set]
	most int

	mu     sync.Mutex
	places map[string]*keyLabels
}
