package metrics

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weir-go/weir/histogram"
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
type Reader struct{ parts []part }

// A part is a source with its series.
type part interface {
	series(declare func(of []*Instrument, source string))
	read(out output)
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
	s.MaxKeys = cmp.Or(s.MaxKeys, defaultKeys)
	r := new(Reader)
	for _, l := range s.Limiters {
		r.parts = append(r.parts, newLimiter(l))
	}
	for _, o := range owners(s.Sets) {
		r.parts = append(r.parts, newSet(o, max(0, s.MaxKeys)))
	}
	for _, t := range s.Throttles {
		r.parts = append(r.parts, newThrottled(t))
	}
	add(r, s.Pools, forPool, readPool)
	add(r, s.Capacities, slices.Concat(forResource.all(), forCapacity.all()), readCapacity)
	add(r, s.Monitors, forMonitor, readMonitor)
	add(r, s.Governors, forGovernor.all(), readGovernor)
	return r, nil
}

// simple is a source whose series all have its name.
type simple[T any] struct {
	owned[T]
	instruments []*Instrument
	values      func(out output, source T, labels []string)
}

func (s simple[T]) series(declare func([]*Instrument, string)) { declare(s.instruments, s.labels[0]) }
func (s simple[T]) read(out output)                            { s.values(out, s.source, s.labels) }

func add[T any](r *Reader, sources map[string]T, of []*Instrument, values func(output, T, []string)) {
	for _, o := range owners(sources) {
		r.parts = append(r.parts, simple[T]{o, of, values})
	}
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
	for _, p := range r.parts {
		p.series(func(of []*Instrument, source string) {
			for _, i := range of {
				yield(i, source)
			}
		})
	}
}

// Read reads all sources and calls yield with each point, one at a time. Points of one instrument
// differ in their values.
func (r *Reader) Read(yield func(Measurement)) {
	for _, p := range r.parts {
		p.read(yield)
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

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
