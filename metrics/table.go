package metrics

import (
	"slices"

	"github.com/weir-go/weir/internal/label"
)

// An InstrumentKind is a kind of [Instrument].
type InstrumentKind uint8

// An instrument has one of these kinds.
const (
	Gauge        InstrumentKind = 1 // goes up and down
	Counter      InstrumentKind = 2 // only grows, but starts at 0 again with its source
	Distribution InstrumentKind = 3 // the distribution of durations in seconds, cumulative as a counter
)

// String returns "gauge", "counter" or "histogram", as Prometheus and OpenTelemetry call the kind.
func (k InstrumentKind) String() string {
	switch k {
	case Gauge:
		return "gauge"
	case Counter:
		return "counter"
	case Distribution:
		return "histogram"
	}
	return "unknown"
}

// A Label is a dimension of an [Instrument].
type Label struct {
	Prometheus string // such as "limiter"
	Attribute  string // in OpenTelemetry, such as "weir.limiter.name"
}

// An Attribute is a label whose value never changes.
type Attribute struct {
	Name  string // such as "weir.result"
	Value string // such as "refused"
}

// An Instrument is one line of the table.
type Instrument struct {
	Prometheus string         // the name in Prometheus, with its unit and "_total"
	Name       string         // the name in OpenTelemetry; several lines of the table may share one
	Unit       string         // as in UCUM: "s", "{request}", "1"
	Help       string         // one sentence
	Kind       InstrumentKind // gauge, counter or histogram

	// Labels are the dimensions. The first is the name of the source.
	Labels []Label
	// Fixed are attributes that separate lines of one Name in OpenTelemetry.
	Fixed []Attribute
}

// The table has these labels.
var (
	limiterName  = Label{"limiter", "weir.limiter.name"}
	key          = Label{"key", "weir.key"}
	reason       = Label{"reason", "error.type"}
	outcome      = Label{"outcome", "weir.outcome"}
	direction    = Label{"direction", "weir.direction"}
	throttling   = Label{"throttle", "weir.throttle.name"}
	side         = Label{"side", "weir.throttle.side"}
	poolName     = Label{"pool", "weir.pool.name"}
	state        = Label{"state", "weir.pool.state"}
	capacityOf   = Label{"capacity", "weir.capacity.name"}
	resource     = Label{"resource", "weir.capacity.resource"}
	monitorName  = Label{"monitor", "weir.monitor.name"}
	governorName = Label{"governor", "weir.governor.name"}
	source       = Label{"source", "weir.monitor.source"}
	reading      = Label{"reading", "weir.monitor.reading"}
)

// Table returns all instruments. They are shared: do not change them.
func Table() []*Instrument {
	return slices.Concat(forLimiter.all(), []*Instrument{setCap}, forSet.all(), forShare.all(), forKey.all(),
		[]*Instrument{throttleRunning}, forSide.all(), forPool, forResource.all(), forCapacity.all(), forMonitor, forGovernor.all())
}

func line(kind InstrumentKind, prometheus, name, unit, help string, labels ...Label) *Instrument {
	return &Instrument{Prometheus: prometheus, Name: name, Unit: unit, Help: help, Kind: kind, Labels: labels}
}

// as gives the instrument a fixed attribute.
func (i *Instrument) as(name, value string) *Instrument {
	i.Fixed = append(i.Fixed, Attribute{name, value})
	return i
}

// columns are instruments, each with the function that reads its value from a snapshot.
type columns[S any] []struct {
	*Instrument
	of func(*S) float64
}

func (c columns[S]) all() []*Instrument {
	all := make([]*Instrument, len(c))
	for i, column := range c {
		all[i] = column.Instrument
	}
	return all
}

func (c columns[S]) read(out output, s *S, labels []string) {
	for _, column := range c {
		out.number(column.Instrument, column.of(s), labels)
	}
}

// MaxLabel is how many bytes the value of a label has at most.
const MaxLabel = label.Max
