package simulate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

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
	switch {
	case err != nil:
		return sim.Scenario{}, fmt.Errorf("%s: %w: want a scenario: weir help scenarios shows one", scenario, paths.Cause(err))
	case !utf8.Valid(text):
		return sim.Scenario{}, fmt.Errorf("%s: is no text in UTF-8: want a scenario: weir help scenarios shows one", scenario)
	case extension == ".json":
		return parse(scenario, text)
	}
	if text, err = jsonOf(scenario, text); err != nil {
		return sim.Scenario{}, err
	}
	s, err := parse(scenario, text)
	if wrong, ok := errors.AsType[*sim.FieldError](err); ok { // its line is a line of the JSON
		err = fmt.Errorf("%s: %s %s", scenario, wrong.Field, wrong.Problem)
	}
	return s, err
}

// jsonOf translates YAML to JSON.
func jsonOf(file string, text []byte) ([]byte, error) {
	if err := config.CheckYAML(file, text); err != nil {
		return nil, err
	}
	made, err := yaml.YAMLToJSON(text)
	if syntax := yaml.Error(nil); errors.As(err, &syntax) && syntax.GetToken() != nil {
		at := syntax.GetToken().Position
		return nil, fmt.Errorf("%s:%d:%d: is not YAML: %s", file, at.Line, at.Column, syntax.GetMessage())
	}
	if err == nil && string(bytes.TrimSpace(made)) == "null" {
		err = errors.New("is empty: want a scenario: weir help scenarios shows one")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return made, nil
}

// Length returns the duration of the scenario.
func Length(s sim.Scenario) (sum time.Duration) {
	for _, p := range s.Phases {
		sum += p.Length
	}
	return sum
}

// check reports contradictions in a scenario. Only a run checks everything, and the shortest run is
// enough.
func check(s sim.Scenario) error {
	s.Phases = []sim.Phase{{Length: time.Millisecond}}
	_, err := sim.Run(s, nil, 1)
	return err
}
