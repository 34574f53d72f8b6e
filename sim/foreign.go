package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/window"
)

// A Gate is a limiter other than Weir's, which admits work or refuses it at once. [RunForeign]
// simulates it, and calls it from one goroutine.
type Gate interface {
	// Acquire admits work or refuses it. After an admission the simulation calls done with the time
	// and the way in which the work ended. After a refusal it does not use done. Times count from
	// the start and never go back.
	Acquire(now time.Duration) (done func(now time.Duration, how Outcome), admitted bool)

	// Limit returns the current limit, or 0 if the gate has no limit. The simulation calls it after
	// each other call, only for the result.
	Limit() int
}

// An Outcome is the way in which work ended.
type Outcome uint8

const (
	Success Outcome = 0 // answered
	Failure Outcome = 1 // answered with an error, or refused by the server
	Timeout Outcome = 2 // cancelled by its client
)

// Foreign is a kind of limiter other than Weir's.
type Foreign struct {
	// Name names the limiter in results. Defaults to the type of its gates.
	Name string

	// New makes a gate. [RunForeign] calls it once, with the complete settings, for each limiter
	// that has no constant limit in Scenario.LimiterFixed.
	New func(Limiter) Gate

	// Sleep, if set, is called to let time pass between the calls of gates. Use time.Sleep for a
	// limiter that reads the clock itself, and run the simulation in testing/synctest, which
	// simulates that clock too.
	Sleep func(time.Duration)
}

// RunForeign is [Run] with a limiter other than Weir's. The limiter meets the same requests and
// faults, and the same oracle scores it. RunForeign does not use the law and the queue of the
// scenario, and clients receive no Retry-After.
func RunForeign(s Scenario, f Foreign, seed uint64) (*Result, error) {
	if f.New == nil {
		return nil, errors.New("sim: Foreign.New is missing: want a function that makes a Gate")
	}
	e, err := prepare(s, seed)
	if err != nil {
		return nil, err
	}
	e.gated = &gated{sleep: f.Sleep}
	var limits []int
	for i := range e.scenario.Limiters {
		var gate Gate
		if fixed := e.scenario.pinned(i); fixed > 0 {
			gate = &fixedGate{limit: fixed}
		} else {
			gate = f.New(e.scenario.Limiter)
			f.Name = cmp.Or(f.Name, fmt.Sprintf("%T", gate))
		}
		e.gated.gates = append(e.gated.gates, gate)
		limits = append(limits, gate.Limit())
	}
	e.record = newRecord(&e.scenario, e.end, limits)
	return e.simulate(f.Name, seed)
}

// fixedGate is a limiter with a constant limit beside foreign limiters.
type fixedGate struct{ limit, inflight int }

func (g *fixedGate) Acquire(time.Duration) (done func(time.Duration, Outcome), admitted bool) {
	if g.inflight >= g.limit {
		return nil, false
	}
	g.inflight++
	return func(time.Duration, Outcome) { g.inflight-- }, true
}

func (g *fixedGate) Limit() int { return g.limit }

type gated struct {
	gates []Gate
	dones []func(time.Duration, Outcome) // of the admitted attempts, by slot
	sleep func(time.Duration)
}

// pass moves the clock forward. If Foreign.Sleep is set, it sleeps for the time between.
func (e *engine) pass(then time.Duration) {
	if e.gated != nil && e.gated.sleep != nil && then > e.now {
		e.gated.sleep(then - e.now)
	}
	e.now = then
}

func (g *gated) ask(e *engine, slot int32) {
	limiter := e.attempts[slot].limiter
	done, admitted := g.gates[limiter].Acquire(e.now)
	g.noteLimit(e, limiter)
	if !admitted {
		e.refused(slot, 0)
		return
	}
	for int(slot) >= len(g.dones) {
		g.dones = append(g.dones, nil)
	}
	g.dones[slot] = done
	e.dispatch(slot)
}

func (g *gated) tell(e *engine, slot int32, how window.Outcome) {
	g.dones[slot](e.now, outcomes[how])
	g.dones[slot] = nil
	g.noteLimit(e, e.attempts[slot].limiter)
}

// outcomes translates the outcomes of work for a gate, which distinguishes fewer outcomes.
var outcomes = [...]Outcome{
	window.Success: Success, window.Late: Success,
	window.Failure: Failure, window.Overloaded: Failure,
	window.Timeout: Timeout,
}

func (g *gated) noteLimit(e *engine, limiter int32) {
	from, to := e.record.limits[limiter], g.gates[limiter].Limit()
	if from != to {
		e.record.limit(e.now, limiter, &admit.Change{From: from, To: to})
	}
}
