package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
)

// Run runs the scenario with the law on its limiters and returns the result. If the law is nil, Run
// uses the law of the scenario. The same scenario, law and seed always give the same result.
func Run(s Scenario, l law.Law, seed uint64) (*Result, error) {
	return RunContext(context.Background(), s, l, seed)
}

// RunContext is [Run] that gives up when the context ends. Its error then matches the error of the
// context.
func RunContext(ctx context.Context, s Scenario, l law.Law, seed uint64) (*Result, error) {
	if l != nil {
		s.Limiter.Law = l
	}
	e, err := newEngine(s, seed)
	if err != nil {
		return nil, err
	}
	if ctx != nil {
		e.traffic.left = ctx.Err
	}
	return e.simulate(lawText(e.scenario.Limiter.Law), seed)
}

// simulate runs the scenario and records the series.
func (e *engine) simulate(law string, seed uint64) (*Result, error) {
	e.record.series = make([]Point, 0, min(e.end/e.scenario.Sample+1, 1<<20))
	if err := e.run(); err != nil {
		return nil, err
	}
	return e.result(law, seed), nil
}

type engine struct {
	scenario Scenario // complete
	now, end time.Duration

	traffic traffic
	nodes   []*admit.Node // empty if there are gates
	gated   *gated        // nil without gates
	station Station
	faults  faults
	events  events

	stretches []stretch // the remaining stretches, for the oracle of a shared system

	fx admit.Effects // of the last call of a node

	attempts []attempt
	free     []int32 // unused attempts
	waiters  []*waiter
	woken    []*waiter // answered, and not processed yet
	budgets  []float64 // retries that each kind of client has saved up
	retries  *Rand
	door     door

	record record
	broken error // the law panicked, or the caller left
}

func newEngine(s Scenario, seed uint64) (*engine, error) {
	e, err := prepare(s, seed)
	if err != nil {
		return nil, err
	}
	var limits []int
	for i := range e.scenario.Limiters {
		l := e.scenario.replica(i)
		settings := l.settings()
		settings.Wall = func() time.Time { return time.Unix(0, int64(e.scenario.clock(int32(i), e.now))) }
		node, err := admit.New(settings, l.Law, nil, 0)
		if err != nil {
			return nil, fmt.Errorf("sim: scenario %q: %w", s.Name, err)
		}
		e.nodes = append(e.nodes, node)
		limits = append(limits, node.State(0).Limit) // a law may begin at another limit than Initial
	}
	e.record = newRecord(&e.scenario, e.end, limits)
	return e, nil
}

// prepare returns an engine without limiters and record.
func prepare(s Scenario, seed uint64) (*engine, error) {
	s, err := s.complete()
	if err != nil {
		return nil, fmt.Errorf("sim: scenario %q: %w", s.Name, err)
	}
	e := &engine{scenario: s, retries: NewRand(seed, retryStream), budgets: make([]float64, len(s.Clients))}
	for _, p := range s.Phases {
		e.end += p.Length
	}
	if e.station, err = s.Server.Station(); err != nil {
		return nil, fmt.Errorf("sim: scenario %q: %w", s.Name, err)
	}
	e.traffic = newTraffic(&e.scenario, seed)
	e.faults = faults{phases: s.Phases, phase: -1}
	return e, nil
}

// run processes events in time order, and simultaneous events in the order of the cases.
func (e *engine) run() error {
	e.traffic.advance()
	for n := 0; e.broken == nil; n++ {
		if n%1024 == 0 || e.traffic.next.at < 0 {
			if e.broken = e.traffic.left(); e.broken != nil {
				break
			}
		}
		fault, done, event := e.faults.next, e.station.Next(), e.events.next()
		at := min(fault, done, event, e.traffic.next.at, e.nextStretch())
		if at < e.now {
			e.broken = fmt.Errorf("the next event is at %v: want a server and arrivals whose times do not go back", at)
			break
		}
		if at >= e.end {
			break
		}
		e.pass(at)
		e.record.until(e, at)
		switch at {
		case e.nextStretch():
			e.allot()
		case fault:
			e.change()
		case done:
			e.worked(e.station.Finish(at))
		case event:
			e.happen(e.events.remove(0))
		default:
			e.arrive(e.traffic.next)
			e.traffic.advance()
		}
	}
	if e.broken != nil {
		return fmt.Errorf("sim: scenario %q, at %v: %w", e.scenario.Name, e.now, e.broken)
	}
	e.pass(e.end)
	e.record.until(e, e.end)
	return nil
}

// change begins a phase, or begins or ends a pause.
func (e *engine) change() {
	began := e.faults.advance(e.now)
	if began {
		e.record.begin(e.faults.phase, e.now)
	}
	e.station.Change(e.now, e.faults.conditions())
	if began && e.phase().Down {
		e.kill()
	}
}

func (e *engine) phase() *Phase { return &e.scenario.Phases[e.faults.phase] }

// faults follows the phases and their pauses.
type faults struct {
	phases []Phase
	phase  int           // -1 before the first
	ends   time.Duration // of the phase
	next   time.Duration // time of the next change
	paused bool
}

// advance moves to the state at now and reports whether a phase began.
func (f *faults) advance(now time.Duration) (began bool) {
	if f.phase < 0 || now >= f.ends {
		f.phase++
		f.ends = now + f.phases[f.phase].Length
		if f.phase == len(f.phases)-1 {
			f.ends = Never
		}
		f.paused, began = true, true // so that it toggles to running
	}
	f.paused = !f.paused
	f.next = f.ends
	switch p := f.phases[f.phase].Pause; {
	case p.For == 0:
		f.paused = false
	case f.paused:
		f.next = min(f.ends, now+p.For)
	default:
		f.next = min(f.ends, now+p.Every-p.For)
	}
	return began
}

func (f *faults) conditions() Conditions {
	p := &f.phases[f.phase]
	if f.paused {
		return Conditions{Workers: p.Workers}
	}
	return Conditions{Speed: p.Speed, Workers: p.Workers}
}
