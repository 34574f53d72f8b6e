package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/sim"
)

type logFlags struct {
	Format string `group:"The log:" placeholder:"FORMAT" help:"How a line is written: csv, json (an object a line), common or combined (access logs), or an access log's format with its variables, such as 'combined $$request_time'. Defaults to json if it begins with {, and csv otherwise."`

	Arrival  string `group:"The log:" placeholder:"COLUMN" help:"Arrival time: a column, by its name or its number from 1. A date, seconds, ms, us or ns since 1970, or a time since the start."`
	TimeIs   string `group:"The log:" enum:"start,end" default:"start" placeholder:"MOMENT" help:"What --arrival is the time of, start or end: access logs have when the answer was sent (default ${default})."`
	Service  string `group:"The log:" placeholder:"COLUMN" help:"Service time: a column in seconds, or with its unit, such as 'took*us'."`
	Class    string `group:"The log:" placeholder:"COLUMN" help:"The kind of client, one of those of --on."`
	Deadline string `group:"The log:" placeholder:"COLUMN" help:"How long its client waits: a time, or a date until which it does."`
}

func (f logFlags) reader() sim.TraceReader {
	return sim.TraceReader{
		Format:  f.Format,
		Arrival: f.Arrival, Service: f.Service, Class: f.Class, Deadline: f.Deadline,
		AtEnd: f.TimeIs == "end",
	}
}

// systemFlags describe the system that serves a trace.
type systemFlags struct {
	On      string        `group:"The system:" placeholder:"SCENARIO" help:"Take server, clients, SLO and limiter from this scenario, a name or a file, but neither load nor phases."`
	Workers int           `group:"The system:" type:"count" xor:"server" placeholder:"N" help:"Have a pool of N workers as the server."`
	Cores   float64       `group:"The system:" type:"factor" xor:"server" placeholder:"N" help:"Have N cores as the server, which all requests at work share."`
	SLO     time.Duration `group:"The system:" type:"span" name:"slo" placeholder:"TIME" help:"How long a client waits for its answer. Defaults to the longest --deadline."`
	Phases  string        `group:"The system:" placeholder:"SCENARIO" help:"Take phases, that is faults, from this scenario, a name or a file. The last one lasts as long as the trace."`
	Load    factors       `group:"The system:" xor:"speed" placeholder:"F,F,..." help:"Send the requests so fast that their work is F times what the server can do at most; each F is a scenario."`
	Rate    factors       `group:"The system:" xor:"speed" placeholder:"F,F,..." help:"Send the requests F times as fast as they were recorded; each F is a scenario."`
}

func (f systemFlags) system(deadlines bool) (s sim.Scenario, err error) {
	if f.On != "" {
		if s, err = simulate.LoadSystem(f.On); err != nil {
			return s, err
		}
	}
	if f.Workers > 0 {
		s.Server = sim.WorkerPool{Workers: f.Workers}
	}
	if f.Cores > 0 {
		s.Server = sim.Sharing{Cores: f.Cores}
	}
	if f.SLO > 0 {
		s.SLO = f.SLO
	}
	switch {
	case s.Server == nil:
		return s, errors.New("a trace needs a system to run on: want --on SCENARIO, or --workers N or --cores N and --slo TIME")
	case s.SLO == 0 && !deadlines:
		return s, errors.New("--slo is missing: want how long a client waits, such as 400ms")
	}
	return s, nil
}

func (f systemFlags) replay(file string, log logFlags) ([]sim.Scenario, error) {
	system, err := f.system(log.Deadline != "")
	if err != nil {
		return nil, err
	}
	recording := simulate.Recording{File: file, Reader: log.reader(), Loads: f.Load, Rates: f.Rate}
	if f.Phases != "" {
		faulty, err := simulate.LoadSystem(f.Phases)
		if err != nil {
			return nil, err
		}
		if recording.Phases = faulty.Phases; recording.Phases == nil {
			return nil, fmt.Errorf("--phases: %s has none", f.Phases)
		}
	}
	return recording.Scenarios(system)
}

type simTraceCommand struct {
	File []string `arg:"" help:"Logs of requests, - for standard input. Without flags about them: CSV, arrival time, service time and perhaps class."`

	logFlags
	systemFlags
	lawFlags
	seriesFlags
	Choose bool `help:"Run all laws that come into question, and say which to choose."`
}

// Run replays the trace.
func (c simTraceCommand) Run(ctx context.Context, s streams) error {
	var scenarios []sim.Scenario
	var wrong []error
	for _, file := range c.File {
		replayed, err := c.replay(file, c.logFlags)
		scenarios, wrong = append(scenarios, replayed...), append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		return usageError{err}
	}
	var report reporter = &scores{out: s.out, json: c.JSON}
	if c.Choose {
		if c.Every > 0 {
			return usageError{errors.New("--choose: goes by scores, of which --every prints none: want one of them")}
		}
		c.Law = contenders(c.Law, scenarios[0].SLO)
		if !c.JSON {
			report = &choice{out: s.out}
		}
	}
	return c.run(ctx, s, scenarios, c.lawFlags, report)
}
