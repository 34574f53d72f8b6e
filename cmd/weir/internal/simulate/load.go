package simulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weir-go/weir/sim"
)

// Load returns the scenario of that name, or reads it from the file.
func Load(scenario string) (sim.Scenario, error) {
	extension := filepath.Ext(scenario)
	switch extension {
	case ".json", ".yaml", ".yml":
	default:
		s, err := sim.Lookup(scenario)
		if err != nil {
			return s, fmt.Errorf("%s, or a file: .json, .yaml or .yml", strings.TrimPrefix(err.Error(), "sim: "))
		}
		return s, nil
	}
	text, err := os.ReadFile(scenario)
	if err != nil {
		return sim.Scenario{}, fmt.Errorf("scenario: %w", err)
	}
	if extension != ".json" {
		if text, err = jsonOf(scenario, text); err != nil {
			return sim.Scenario{}, err
		}
	}
	parsed, err := sim.ParseScenario(scenario, text)
	if fault := new(sim.FieldError); extension != ".json" && errors.As(err, &fault) && fault.Field == "JSON" {
		fault.Field = "YAML"
	}
	return parsed, err
}

// Replay returns a scenario that sends the requests of a trace to the system, without
// the system's own load and phases.
func Replay(file string, system sim.Scenario) (sim.Scenario, error) {
	in, err := os.Open(file)
	if err != nil {
		return system, fmt.Errorf("trace: %w", err)
	}
	defer in.Close()
	trace, err := sim.ParseTrace(file, in)
	if err != nil {
		return system, err
	}
	system.Name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	system.Arrivals, system.Work, system.Trace = nil, nil, trace
	system.Phases = []sim.Phase{{Length: max(trace.Length(), time.Millisecond)}}
	return system, located(file, check(system))
}

// Length is how long the scenario lasts.
func Length(s sim.Scenario) (sum time.Duration) {
	for _, p := range s.Phases {
		sum += p.Length
	}
	return sum
}

// check reports what does not fit together in a scenario. Only a run checks all of it,
// and the shortest will do.
func check(s sim.Scenario) error {
	s.Phases = []sim.Phase{{Length: time.Millisecond}}
	_, err := sim.Run(s, nil, 1)
	return err
}

// located adds the file to an error that has none.
func located(file string, err error) error {
	var fault *sim.FieldError
	if errors.As(err, &fault) && fault.File == "" {
		return fmt.Errorf("%s: %w", file, fault)
	}
	return err
}
