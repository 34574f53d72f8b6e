package throttle

import (
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/pid"
)

// A State is what a throttle does and why, at one moment.
type State struct {
	Name          string            // Config.Name
	Off           bool              // Config.Off
	Running       bool              // whether Run is at work
	Reads, Writes SideState         // the two sides
	Feeds         []load.Status     // what the monitor's feeds said last
	Actions       map[string]uint64 // how often each action has run
}

// A SideState is one side of a [State]. Totals count since the throttle was made.
type SideState struct {
	Pace        Pace         // what holds now; the zero Pace is none
	Load        float64      // what the laws went by
	Level       load.Level   // of that, what the monitor says
	Latency     load.Reading // and the p95 against its target, not valid without a target
	Symptom     load.Reading // the worst that the operations themselves show
	Degraded    bool         // signals are missing: the symptoms count
	Emergency   bool         // see [Emergency]
	Emergencies uint64       // how often it began

	// PID has the terms of the PID law, or of the controller that replaces all
	// laws while the side is degraded; zero if there is none.
	PID pid.State

	Rate         float64       // cost admitted per second, over about a second
	Cost         uint64        // cost admitted
	Throttled    uint64        // operations that had to wait and then started: not who left or was refused, see Limiter
	ThrottleTime time.Duration // for how long those waited, together
	Limiter      weir.Snapshot // latencies, work in flight, the queue, who left, refusals by reason
}

// State returns the present state. Reading changes nothing.
func (t *Throttle) State() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := State{
		Name: t.conf.Name, Off: t.conf.Off, Running: t.running.Load(),
		Reads: t.sides[Read].state(), Writes: t.sides[Write].state(),
		Actions: map[string]uint64{},
	}
	if t.conf.Monitor != nil {
		st.Feeds = t.conf.Monitor.Status()
	}
	for _, a := range t.actions {
		a.mu.Lock()
		st.Actions[a.Name] = a.runs
		a.mu.Unlock()
	}
	return st
}

func (s *side) state() SideState {
	snap := s.limiter.Snapshot()
	return SideState{
		Pace: paceOf(s.limiter), Load: s.load, Level: s.level, Latency: s.latency, Symptom: s.symptom,
		Degraded: s.degraded, Emergency: s.emergency.on, Emergencies: s.emergency.count,
		PID:  s.terms(),
		Rate: s.flow, Cost: s.cost(snap),
		Throttled: s.throttled.Load(), ThrottleTime: time.Duration(s.throttleTime.Load()),
		Limiter: snap,
	}
}

// terms are those of the controller that decides.
func (s *side) terms() pid.State {
	if s.degraded {
		return s.fallback.loop.State()
	}
	for _, l := range s.laws {
		if p, ok := l.(*pidLaw); ok {
			return p.loop.State()
		}
	}
	return pid.State{}
}
