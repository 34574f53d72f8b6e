package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Scenario describes a service, its clients, their load and the faults. [ParseScenario] reads a
// scenario from JSON, with the field names of the tags; the file scenario.schema.json describes the
// format. In a field with a default, 0 means the default.
type Scenario struct {
	// Name identifies the scenario.
	Name string `json:"name"`

	// About describes the purpose of the scenario in a sentence.
	About string `json:"about,omitempty"`

	// Arrivals is the arrival process of requests.
	Arrivals Arrivals `json:"arrivals"`

	// Work is the service time of requests.
	Work Work `json:"work"`

	// Server does the work.
	Server Server `json:"server"`

	// SLO is how long a client waits for an answer, from each attempt.
	SLO time.Duration `json:"slo" range:"(0s,10000h]"`

	// Clients are the kinds of clients. Defaults to one kind.
	Clients []Client `json:"clients,omitempty"`

	// Limiters is the number of limiters in front of the server. Each request asks one of them,
	// drawn at random. Defaults to 1.
	Limiters int `json:"limiters,omitempty" range:"[0,10000]"`

	// LimiterShares are the shares of requests that ask each limiter, in proportion to one another.
	// Defaults to equal shares.
	LimiterShares []float64 `json:"limiter_shares,omitempty" range:"[0,1e6]"`

	// LimiterStarts are the times at which each limiter starts, in seconds since the beginning.
	// Requests to a limiter that has not started do not come. Defaults to 0.
	LimiterStarts []float64 `json:"limiter_starts,omitempty" range:"[0,1e7]"`

	// LimiterFixed are the constant limits of limiters that no law controls, such as neighbours
	// from another library. They keep their limits under every law and in the oracle. 0 leaves a
	// limiter to the law. Defaults to 0.
	LimiterFixed []int `json:"limiter_fixed,omitempty" range:"[0,1e9]"`

	// LimiterSkew are the seconds by which the wall clock of each limiter is ahead.
	// Defaults to 0.
	LimiterSkew []float64 `json:"limiter_skew,omitempty" range:"[-1e7,1e7]"`

	// Limiter holds the settings of each limiter.
	Limiter Limiter `json:"limiter,omitzero"`

	// OracleMax is the highest limit that the oracle tries, of all limiters together. Defaults to
	// the limiter's max times the number of limiters, but to no more than 1000 or, if that is more,
	// the limiter's max. Without a max it defaults to 1000 or, if that is more, the limiter's min.
	OracleMax int `json:"oracle_max,omitempty" range:"[0,1e9]"`

	// Phases follow one another. Together they last 10000h at most.
	Phases []Phase `json:"phases"`

	// Regime is the group of this scenario in summaries. It may be empty.
	Regime string `json:"regime,omitempty"`

	// Start is the time that the service takes to start. Phases that begin within this time are
	// scored separately.
	Start time.Duration `json:"start,omitempty" range:"[0s,10000h]"`

	// Sample is the distance between points of the result's series, at least 1 ms. Defaults to 1 s,
	// or to a longer distance if the series would have more than 65536 points.
	Sample time.Duration `json:"sample,omitempty" range:"[0s,10000h]"`

	// Trace, if set, replaces Arrivals and Work: see [TraceReader]. A scenario with a trace ignores
	// Load, Shares and Work of its phases.
	Trace Trace `json:"-"`
}

// A Phase is a period with one load and one set of faults.
type Phase struct {
	// Name identifies the phase in tables. It may be empty.
	Name string `json:"name,omitempty"`

	// Length is the duration of the phase.
	Length time.Duration `json:"length" range:"[1ms,10000h]"`

	// Load multiplies the rate of arrivals. Defaults to 1.
	Load float64 `json:"load,omitempty" range:"[0,1000]"`

	// Shares are the shares of requests that each kind of clients sends, in the order of Clients.
	// Defaults to the Share of each kind.
	Shares []float64 `json:"shares,omitempty" range:"[0,1e6]"`

	// Speed multiplies the speed of the server. Defaults to 1.
	Speed float64 `json:"speed,omitempty" range:"[0,1000]"`

	// Workers is the share of workers or cores that remain. A pool keeps at least one worker.
	// Defaults to 1.
	Workers float64 `json:"workers,omitempty" range:"[0,1]"`

	// Delay is added to each answer without any load on the server.
	Delay time.Duration `json:"delay,omitempty" range:"[0s,1h]"`

	// Errors is the share of work that fails, after ErrorTime on the server.
	Errors float64 `json:"errors,omitempty" range:"[0,1]"`

	// ErrorTime is the work of a failed request. Defaults to 1 ms.
	ErrorTime time.Duration `json:"error_time,omitempty" range:"[0s,1h]"`

	// Down takes the server away: running work fails when the phase begins, and new work
	// fails after ErrorTime.
	Down bool `json:"down,omitempty"`

	// Refuse configures the refusals of the server, which take ErrorTime.
	Refuse Refusals `json:"refuse,omitzero"`

	// Pause stops the server periodically.
	Pause Pause `json:"pause,omitzero"`

	// Work, if set, is the service time of requests that arrive in this phase.
	Work Work `json:"work,omitempty"`
}

// Refusals configures a server that refuses work like an API that answers 429: the limiter
// sees an overload. The zero Refusals refuse nothing.
type Refusals struct {
	// Above is the maximum number of units of work at once; the server refuses work
	// beyond it. 0 means no maximum.
	Above int `json:"above,omitempty" range:"[0,1e6]"`

	// Rate is the maximum number of requests per second. At once the server takes a tenth of that
	// number, and at least one request. 0 means no maximum.
	Rate float64 `json:"rate,omitempty" range:"[0,1e6]"`

	// Share is the share of requests that the server refuses under any load.
	Share float64 `json:"share,omitempty" range:"[0,1]"`

	// RetryAfter is the Retry-After of refusals. 0 means refusals without Retry-After.
	RetryAfter time.Duration `json:"retry_after,omitempty" range:"[0s,10000h]"`
}

// A Pause stops the server for the duration For at the end of every period Every, as garbage
// collection or a checkpoint does. The zero Pause never stops the server.
type Pause struct {
	Every time.Duration `json:"every" range:"[0s,10000h]"`
	For   time.Duration `json:"for" range:"[0s,10000h]"`
}

// longest is the largest duration in a scenario, and the largest sum of the lengths of its phases.
const longest = 10000 * time.Hour

// complete checks the scenario and fills in defaults.
func (s Scenario) complete() (Scenario, error) {
	if err := check("", s); err != nil {
		return s, err
	}
	if err := s.consistent(); err != nil {
		return s, err
	}
	s.Limiters = cmp.Or(s.Limiters, 1)
	s.Limiter = s.Limiter.complete()
	clients := s.Clients
	if len(clients) == 0 {
		clients = make([]Client, 1)
	}
	s.Clients = make([]Client, len(clients))
	for i, c := range clients {
		c.Share = cmp.Or(c.Share, 1)
		c.SLO = cmp.Or(c.SLO, s.SLO)
		c.Weight = cmp.Or(c.Weight, 1)
		s.Clients[i] = c
	}
	phases, total := s.Phases, time.Duration(0)
	s.Phases = make([]Phase, len(phases))
	for i, p := range phases {
		total += p.Length
		p.Load = cmp.Or(p.Load, 1)
		p.Speed = cmp.Or(p.Speed, 1)
		p.Workers = cmp.Or(p.Workers, 1)
		p.ErrorTime = cmp.Or(p.ErrorTime, time.Millisecond)
		p.Work = cmp.Or(p.Work, s.Work)
		if p.Shares == nil {
			for _, c := range s.Clients {
				p.Shares = append(p.Shares, c.Share)
			}
		}
		s.Phases[i] = p
	}
	s.Sample = cmp.Or(s.Sample, max(time.Second, binWidth(total)))
	return s, nil
}

// consistent checks fields against one another.
func (s Scenario) consistent() error {
	switch {
	case len(s.Phases) == 0:
		return fieldError("phases", "is empty: want at least one phase")
	case s.Server == nil:
		return fieldError("server", "is missing: want %s", kindsOf[Server]())
	case s.Trace == nil && s.Arrivals == nil:
		return fieldError("arrivals", "is missing: want %s", kindsOf[Arrivals]())
	case s.Trace == nil && s.Work == nil:
		return fieldError("work", "is missing: want %s", kindsOf[Work]())
	case s.Sample > 0 && s.Sample < time.Millisecond:
		return fieldError("sample", "is %v: want 1ms to 10000h, or leave it out for 1s", s.Sample)
	}
	total := time.Duration(0)
	for i, p := range s.Phases {
		if err := p.consistent(fmt.Sprintf("phases[%d]", i), max(1, len(s.Clients))); err != nil {
			return err
		}
		if total += p.Length; total > longest {
			return fieldError(fmt.Sprintf("phases[%d].length", i), "is %v, with which all phases last %v: want at most 10000h", p.Length, total)
		}
	}
	if err := s.Limiter.complete().consistent(); err != nil {
		return err
	}
	if err := s.replicated(); err != nil {
		return err
	}
	if s.Trace != nil {
		return s.Trace.fits(s.Clients)
	}
	return nil
}

func (p Phase) consistent(path string, clients int) error {
	if p.Pause.For > 0 && p.Pause.For >= p.Pause.Every {
		return fieldError(path+".pause.for", "is %v: want less than every, which is %v", p.Pause.For, p.Pause.Every)
	}
	if p.Shares != nil && (len(p.Shares) != clients || slices.Max(p.Shares) == 0) {
		return fieldError(path+".shares",
			"is %v: want one for each kind of client, of which there are %d, and not all of them 0", p.Shares, clients)
	}
	return nil
}
