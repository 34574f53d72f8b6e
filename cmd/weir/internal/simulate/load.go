package simulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/cmd/weir/internal/paths"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/sim"
)

// Load returns the built-in scenario with that name, or reads it from the file.
func Load(scenario string) (sim.Scenario, error) { return load(scenario, sim.ParseScenario) }

// LoadSystem is Load for the system of a trace: the file may be incomplete.
func LoadSystem(scenario string) (sim.Scenario, error) { return load(scenario, sim.ParseSystem) }

func load(scenario string, parse func(string, []byte) (sim.Scenario, error)) (sim.Scenario, error) {
	extension := filepath.Ext(scenario)
	switch extension {
	case ".json", ".yaml", ".yml":
	default:
		s, err := suites.Lookup(scenario)
		if info, fault := os.Stat(scenario); err != nil && fault == nil && info.IsDir() {
			return s, fmt.Errorf("%s: is a directory: want a scenario: weir help scenarios shows one", scenario)
		}
		if err != nil {
			return s, fmt.Errorf("%w (a file ends in .json, .yaml or .yml)", err)
		}
		return s, nil
	}
	text, err := os.ReadFile(scenario)
	if err != nil {
		return sim.Scenario{}, fmt.Errorf("%s: %w: want a scenario: weir help scenarios shows one", scenario, paths.Cause(err))
	}
	if !utf8.Valid(text) {
		return sim.Scenario{}, fmt.Errorf("%s: is no text in UTF-8: want a scenario: weir help scenarios shows one", scenario)
	}
	if extension != ".json" {
		if text, err = config.JSON(scenario, text); err == nil && len(text) == 0 {
			err = fmt.Errorf("%s: is empty: want a scenario: weir help scenarios shows one", scenario)
		}
		if err != nil {
			return sim.Scenario{}, err
		}
	}
	return parse(scenario, text)
}

// Length is the duration of the scenario.
func Length(s sim.Scenario) (sum time.Duration) {
	for _, p := range s.Phases {
		sum += p.Length
	}
	return sum
}

// check reports contradictions in a scenario. Only a run checks everything, and the shortest
// is enough.
func check(s sim.Scenario) error {
	s.Phases = []sim.Phase{{Length: time.Millisecond}}
	_, err := sim.Run(s, nil, 1)
	return err
}

func located(file string, err error) error {
	var fault *sim.FieldError
	if errors.As(err, &fault) && fault.File == "" {
		return fmt.Errorf("%s: %w", file, fault)
	}
	return err
}
