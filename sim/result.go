package sim

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/law"
)

// A Tally counts requests by outcome. Attempts that still run at the end of the simulation count
// only in Requests and Attempts.
type Tally struct {
	Requests  int // requests of clients
	Attempts  int // requests and retries at the limiters
	Good      int // answered without error within the SLO
	Late      int // answered without error after the SLO
	Failed    int // answered with an error
	Pushed    int // refused by the server
	Refused   int // refused by a limiter, at once or in its queue
	Cancelled int // given up by the client, in the queue or, if it cancels work, on the server
}

func (t *Tally) add(o Tally) {
	t.Requests += o.Requests
	t.Attempts += o.Attempts
	t.Good += o.Good
	t.Late += o.Late
	t.Failed += o.Failed
	t.Pushed += o.Pushed
	t.Refused += o.Refused
	t.Cancelled += o.Cancelled
}

// A Result is the result of a simulation. Its Tally covers all phases.
type Result struct {
	Tally
	Clients  []Tally // of each kind of clients, in their order
	Limiters []Tally // of each limiter, in their order

	Scenario string // its name
	Law      string // as text
	Seed     uint64 // of the simulation

	Latency     Histogram // of answers without error, from the attempt to the answer
	LimitMean   float64   // mean of the limit of one limiter
	LimitCV     float64   // its coefficient of variation
	WouldRefuse int       // admitted in shadow mode only
	Probed      int       // part of Refused: under a limit that the law had lowered to measure (law.Probing)

	Phases  []PhaseResult // in order
	Series  []Point       // one for each Scenario.Sample
	Changes []Change      // every change of a limit, in order

	bins   []bin
	pinned []bool // limiters with a fixed limit
}

// A PhaseResult is the result of one phase. An answer belongs to the phase in which it comes. The
// limit is measured over the latter half of the phase, after it had time to settle, and weighted by
// time. With several limiters it is the mean of their limits.
type PhaseResult struct {
	Tally
	Clients  []Tally // as in Result
	Limiters []Tally // as in Result

	Name          string        // of the phase
	Answered      int           // good requests that came in the phase, even if answered later
	Start, Length time.Duration // of the phase
	Latency       Histogram     // as in Result
	InFlight      float64       // mean work in flight
	WouldRefuse   int           // admitted in shadow mode only
	LimitMean     float64       // mean of the limit
	LimitCV       float64       // its coefficient of variation
}

// A Point is the state at a time, and rates per second over the sample before it.
type Point struct {
	At         time.Duration // since the start
	Limit      int           // of all limiters together
	InFlight   int           // admitted and not yet answered
	Queued     int           // waiting in a limiter's queue
	Arrived    float64       // attempts
	Throughput float64       // answers without error
	Good       float64       // answers without error within the SLO
	Refused    float64       // by a limiter
	P95, P99   time.Duration // of the latency of answers without error
}

// A Change is one change of a limit.
type Change struct {
	At       time.Duration // since the start
	Limiter  int           // index of the limiter
	From, To int           // the limit
	Reason   law.Reason    // the law's reason
}

func (e *engine) result(law string, seed uint64) *Result {
	e.record.flow(e.now, 0)
	e.record.book(e.now)
	r := &Result{
		Scenario: e.scenario.Name, Law: law, Seed: seed,
		Tally:    e.record.tally(),
		Clients:  make([]Tally, len(e.scenario.Clients)),
		Limiters: make([]Tally, e.scenario.Limiters),
		Series:   e.record.series, Changes: e.record.changes, bins: e.record.bins, Probed: e.record.probed,
	}
	for i := range e.scenario.Limiters {
		r.pinned = append(r.pinned, e.scenario.pinned(i) > 0)
	}
	total := 0.0
	for i := range e.record.phases {
		p := &e.record.phases[i]
		phase := p.PhaseResult
		phase.Tally, phase.InFlight = p.tally(), float64(p.area)/float64(p.Length)
		phase.LimitMean, phase.LimitCV = p.limitMean()
		phase.Clients, phase.Limiters = p.parts(e.scenario.Limiters)
		for i, t := range phase.Clients {
			r.Clients[i].add(t)
		}
		for i, t := range phase.Limiters {
			r.Limiters[i].add(t)
		}
		r.Latency.merge(&p.Latency)
		r.WouldRefuse += p.WouldRefuse
		r.LimitMean += mul(p.limitTime, phase.LimitMean)
		r.LimitCV += mul(p.limitTime, phase.LimitCV)
		total += p.limitTime
		r.Phases = append(r.Phases, phase)
	}
	r.LimitMean /= total
	r.LimitCV /= total
	return r
}

func lawText(l law.Law) string {
	if s, ok := l.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", l)
}
