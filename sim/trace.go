package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/nearest"
)

// A Trace is a list of recorded requests, in the order of their arrival. [TraceReader] reads a
// trace from a log.
type Trace []Arrival

// An Arrival is one recorded request.
type Arrival struct {
	At       time.Duration // since the start
	Work     time.Duration // its service time
	Class    string        // the kind of client that sent it; may be empty
	Deadline time.Duration // time that its client waits, from each attempt, up to 10000h; 0 for the SLO of its kind
}

// Length returns a suitable duration for a scenario of the trace. It ends a second after the last
// arrival, so that most requests are answered.
func (t Trace) Length() time.Duration {
	if len(t) == 0 {
		return time.Second
	}
	return t[len(t)-1].At + time.Second
}

// Offered returns the work that arrives in a second, in seconds: the mean number of workers that
// the trace keeps busy. The quotient of Offered and the [EffectiveWorkers] of a server is the load.
// Offered is 0 for a trace whose requests all come at once.
func (t Trace) Offered() float64 {
	if len(t) < 2 || t[0].At == t[len(t)-1].At {
		return 0
	}
	work := 0.0
	for _, a := range t[:len(t)-1] { // the last request begins at the end of the counted time
		work += a.Work.Seconds()
	}
	return work / (t[len(t)-1].At - t[0].At).Seconds()
}

// Faster returns the trace with arrivals that are faster by the factor times, which must be
// above 0. It changes only arrival times.
func (t Trace) Faster(times float64) Trace {
	faster := slices.Clone(t)
	for i := range faster {
		faster[i].At = time.Duration(float64(t[i].At) / times)
	}
	return faster
}

// EffectiveWorkers returns the capacity of a server: the most work that it does in a second,
// where a job that takes a second on the idle server is one second of work. For a pool that is
// the number of workers. It is unknown for a [Curve], for custom servers and for a server
// without a bound.
func EffectiveWorkers(s Server) (workers float64, known bool) {
	switch s := s.(type) {
	case WorkerPool:
		return float64(s.Workers), true
	case Sharing:
		return s.Cores, true
	case Quadratic:
		return s.Double / 2, true
	case USL:
		return s.peak()
	}
	return 0, false
}

// peak returns the throughput at the best number of jobs, relative to one job. Without
// coherence it is the limit that growing numbers of jobs approach.
func (u USL) peak() (workers float64, bounded bool) {
	if u.Beta == 0 {
		return 1 / u.Alpha, u.Alpha > 0
	}
	n := max(1, math.Sqrt((1-u.Alpha)/u.Beta))
	return n / (1 + mul(u.Alpha, n-1) + mul(mul(u.Beta, n), n-1)), true
}

// mostClasses is the number of unknown classes that an error names.
const mostClasses = 20

// fits checks the order of the requests, the range of their deadlines, and that each class has a
// client.
func (t Trace) fits(clients []Client) error {
	last := time.Duration(0)
	for i, a := range t {
		if a.At < last || a.Deadline < 0 || a.Deadline > longest {
			return fieldError("trace", "has request %d at %v with a deadline of %v, after one at %v: want them in order of arrival, from 0, with deadlines of 0 to 10000h",
				i, a.At, a.Deadline, last)
		}
		last = a.At
	}
	if len(clients) < 2 {
		return nil // all classes are alike
	}
	names := make([]string, len(clients))
	known := make(map[string]bool, len(clients))
	for i, c := range clients {
		names[i] = c.Name
		known[c.Name] = true
	}
	var strange []string
	for _, r := range t {
		if !known[r.Class] {
			known[r.Class] = true
			strange = append(strange, strconv.Quote(r.Class))
		}
	}
	if strange == nil {
		return nil
	}
	if more := len(strange) - mostClasses; more > 0 {
		strange = append(strange[:mostClasses], fmt.Sprintf("%d more", more))
	}
	return fieldError("trace", "has class %s: want the name of a client, %s", strings.Join(strange, ", "), nearest.Alternatives(names))
}
