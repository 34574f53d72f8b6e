package metrics

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/label"
)

// A Measurement is one value of an [Instrument], or one distribution.
type Measurement struct {
	Instrument *Instrument // the line of the table
	Values     []string    // of Instrument.Labels, in their order. They are shared: do not change them

	Value     float64             // of a gauge or a counter
	Histogram *histogram.Snapshot // of a histogram; nil otherwise
}

// A Reader reads its sources. Make one with [New]. It is safe for concurrent use, by any number of
// readers.
type Reader struct{ parts []part }

// A part is a source: the series that it may have, and how their values are read.
type part struct {
	series []series
	read   func(out output)
}

// A series has instruments with the name of their source.
type series struct {
	of     []*Instrument
	source string
}

// New returns a reader. The error matches [ErrConfig] and has all faults of the sources. Names are
// read once: an update that renames a limiter does not rename its series.
func New(s Sources) (*Reader, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	s.MaxKeys = cmp.Or(s.MaxKeys, defaultKeys)
	r := new(Reader)
	for _, l := range s.Limiters {
		r.parts = append(r.parts, limiterPart(l))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sets)) {
		r.parts = append(r.parts, setPart(s.Sets[name], label.Clean(name), max(0, s.MaxKeys)))
	}
	for _, t := range s.Throttles {
		r.parts = append(r.parts, throttlePart(t))
	}
	add(r, s.Pools, forPool, readPool)
	add(r, s.Capacities, slices.Concat(forResource.all(), forCapacity.all()), readCapacity)
	add(r, s.Monitors, forMonitor, readMonitor)
	add(r, s.Governors, forGovernor.all(), readGovernor)
	return r, nil
}

// add adds sources whose series all have their name.
func add[T any](r *Reader, sources map[string]T, of []*Instrument, values func(output, T, []string)) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		source, labels := sources[name], []string{label.Clean(name)}
		r.parts = append(r.parts, part{
			series: []series{{of, labels[0]}},
			read:   func(out output) { values(out, source, labels) },
		})
	}
}

// Series calls yield with each instrument that Read may use and the name of its source, as
// an exporter declares them beforehand. It reads nothing.
func (r *Reader) Series(yield func(i *Instrument, source string)) {
	for _, p := range r.parts {
		for _, s := range p.series {
			for _, i := range s.of {
				yield(i, s.source)
			}
		}
	}
}

// Read reads all sources and calls yield with each measurement, one at a time. Measurements of one
// instrument differ in their labels.
func (r *Reader) Read(yield func(Measurement)) {
	for _, p := range r.parts {
		p.read(yield)
	}
}

type output func(Measurement)

func (o output) number(i *Instrument, value float64, labels []string) {
	o(Measurement{Instrument: i, Values: labels, Value: value})
}

// with writes a number, as the method number does, with additional labels.
func (o output) with(i *Instrument, value float64, labels []string, more ...string) {
	o.number(i, value, join(labels, more...))
}

// histogram writes a histogram, if the source keeps one.
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
