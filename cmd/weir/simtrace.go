package main

import (
	"context"
	"errors"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/sim"
)

// systemFlags are the system that a trace meets.
type systemFlags struct {
	On      string `placeholder:"SCENARIO" help:"Take server, clients, SLO and limiter from this scenario, a name or a file, but neither load nor phases."`
	Workers count  `placeholder:"N" help:"Have a pool of N workers as the server."`
	SLO     span   `name:"slo" placeholder:"TIME" help:"How long a client waits for its answer."`
}

func (f systemFlags) system() (s sim.Scenario, err error) {
	if f.On != "" {
		if s, err = simulate.Load(f.On); err != nil {
			return s, err
		}
	}
	if f.Workers > 0 {
		s.Server = sim.Pool{Workers: int(f.Workers)}
	}
	if f.SLO > 0 {
		s.SLO = time.Duration(f.SLO)
	}
	switch {
	case s.Server == nil:
		return s, errors.New("what does the trace meet? want --on SCENARIO, or --workers N and --slo TIME")
	case s.SLO == 0:
		return s, errors.New("--slo is missing: want how long a client waits, such as 400ms")
	}
	return s, nil
}

func (f systemFlags) replay(file string) (sim.Scenario, error) {
	system, err := f.system()
	if err != nil {
		return system, err
	}
	return simulate.Replay(file, system)
}

type simTraceCommand struct {
	File string `arg:"" help:"CSV: arrival time, service time and perhaps class, one request a line."`

	systemFlags
	lawFlags
	outputFlags
	Every span `placeholder:"TIME" help:"Print limit, in flight, queued, p95, admitted and refused so often, and no scores."`
}

// Run replays the trace.
func (c simTraceCommand) Run(ctx context.Context, s streams) error {
	scenario, err := c.replay(c.File)
	if err != nil {
		return usageError{err}
	}
	return runScenarios(ctx, s, []sim.Scenario{scenario}, c.lawFlags, c.outputFlags, time.Duration(c.Every))
}
