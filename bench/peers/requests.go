package peers

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// A request is one of the simulator's.
type request struct {
	at, work time.Duration
	fails    bool // its first attempt
	client   int
	limiter  int
}

// record returns the requests that sim makes of the scenario, which it does not tell: it has
// sim run them without limit on a server that takes notes. Which of them fail
// is seen from a second run, in which failures have a length of their own.
func record(s sim.Scenario, seed uint64) ([]request, error) {
	clients, limiters := s.Clients, s.Limiters
	s.Clients, s.Limiters = nil, 1
	s.Limiter = sim.Limiter{Max: 1e9, Initial: 1e9, Law: law.Fixed{}}
	s.Sample = time.Hour

	healthy, faulty := s, s
	healthy.Phases, faulty.Phases = slices.Clone(s.Phases), slices.Clone(s.Phases)
	const marker = time.Hour - 1
	errors := false
	for i, p := range s.Phases {
		healthy.Phases[i].Errors = 0
		faulty.Phases[i].ErrorTime = marker
		errors = errors || p.Errors > 0
	}
	requests, err := notes(healthy, seed)
	if err != nil {
		return nil, err
	}
	if errors {
		seen, err := notes(faulty, seed)
		if err != nil {
			return nil, err
		}
		for i := range requests {
			requests[i].fails = seen[i].work == marker
		}
	}
	pick := newStream(seed, clientStream)
	sum := 0.0
	for _, c := range clients {
		sum += c.Share
	}
	for i := range requests {
		if len(clients) > 1 {
			requests[i].client = pickClient(clients, pick.float()*sum)
		}
		requests[i].limiter = int(pick.float() * float64(limiters))
	}
	return requests, nil
}

func pickClient(clients []sim.Client, pick float64) int {
	sum := 0.0
	for i, c := range clients {
		if sum += c.Share; pick < sum {
			return i
		}
	}
	return len(clients) - 1
}

func notes(s sim.Scenario, seed uint64) ([]request, error) {
	var pad notepad
	s.Server = &pad
	_, err := sim.Run(s, nil, seed)
	return pad.requests, err
}

// A notepad is a server that notes what it is given and does none of it.
type notepad struct{ requests []request }

func (p *notepad) Station() (sim.Station, error) { return p, nil }

func (p *notepad) Start(now time.Duration, _ sim.Job, work time.Duration) {
	p.requests = append(p.requests, request{at: now, work: work})
}
func (*notepad) Next() time.Duration                  { return sim.Never }
func (*notepad) Finish(time.Duration) sim.Job         { panic("never") }
func (*notepad) Abandon(time.Duration, sim.Job)       {}
func (*notepad) Change(time.Duration, sim.Conditions) {}

// A stream is one of sim's generators; sim has one for each purpose.
type stream struct{ pcg rand.PCG }

const (
	clientStream = 4
	retryStream  = 5
)

func newStream(seed, purpose uint64) *stream {
	s := &stream{}
	s.pcg.Seed(seed, purpose*0x9e3779b97f4a7c15)
	return s
}

func (s *stream) float() float64 { return float64(s.pcg.Uint64()>>11) / (1 << 53) }

// complete fills in the defaults that sim documents, as far as the loop needs them.
func complete(s sim.Scenario) sim.Scenario {
	s.Limiters = cmp.Or(s.Limiters, 1)
	s.Limiter.Min = cmp.Or(s.Limiter.Min, 1)
	s.Limiter.Max = cmp.Or(s.Limiter.Max, 1000)
	s.Limiter.Initial = cmp.Or(s.Limiter.Initial, min(20, s.Limiter.Max))
	s.Clients = slices.Clone(s.Clients)
	if len(s.Clients) == 0 {
		s.Clients = make([]sim.Client, 1)
	}
	for i := range s.Clients {
		c := &s.Clients[i]
		c.Share, c.SLO = cmp.Or(c.Share, 1), cmp.Or(c.SLO, s.SLO)
	}
	s.Phases = slices.Clone(s.Phases)
	for i := range s.Phases {
		p := &s.Phases[i]
		p.Speed, p.Workers = cmp.Or(p.Speed, 1), cmp.Or(p.Workers, 1)
		p.ErrorTime = cmp.Or(p.ErrorTime, time.Millisecond)
	}
	return s
}
