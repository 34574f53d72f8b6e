package sim

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A Shelf is a folder in which oracles and baselines are kept from one run to the next, so that
// the next law takes a fortieth of the time. The empty Shelf keeps none. It does not notice
// that the simulator itself has changed: empty it then. Several processes may use one.
type Shelf string

// Sweep returns what [SweepOn] does, from the shelf if it is there, and otherwise puts it there.
// An error may also be one of the file system.
func (s Shelf) Sweep(processors int, scenario Scenario, seed uint64) (*Oracle, error) {
	path, ok := s.place(scenario, seed, "oracle")
	if !ok {
		return SweepOn(processors, scenario, seed)
	}
	kept := new(Oracle)
	if data, err := os.ReadFile(path); err == nil && kept.UnmarshalBinary(data) == nil {
		return kept, nil
	}
	oracle, err := SweepOn(processors, scenario, seed)
	if err != nil {
		return nil, err
	}
	data, err := oracle.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return oracle, s.keep(data, path)
}

// Baseline returns what [BaselineOf] does, from the shelf if it is there, and otherwise puts it there.
// An error may also be one of the file system.
func (s Shelf) Baseline(scenario Scenario, seed uint64) (*Baseline, error) {
	path, ok := s.place(scenario, seed, "baseline")
	if !ok {
		return BaselineOf(scenario, seed)
	}
	kept := new(Baseline)
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, kept) == nil && len(kept.Phases) == len(scenario.Phases) {
		return kept, nil
	}
	baseline, err := BaselineOf(scenario, seed)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(baseline)
	if err != nil {
		return nil, err
	}
	return baseline, s.keep(data, path)
}

// place is the file of an oracle or a baseline, named after all that it depends on. A trace, a
// source and parts that have no text form have no place.
func (s Shelf) place(scenario Scenario, seed uint64, what string) (path string, ok bool) {
	if s == "" || !scenario.drawn() {
		return "", false
	}
	scenario.Limiter = Limiter{Max: scenario.Limiter.Max} // both have their own limits, and no queue
	text, err := json.Marshal(scenario)
	if err != nil {
		return "", false
	}
	return filepath.Join(string(s), fmt.Sprintf("%x-%d.%s", sha256.Sum256(text), seed, what)), true
}

// keep writes the file under another name first, so that whoever reads it meanwhile finds
// all of it or nothing.
func (s Shelf) keep(data []byte, path string) error {
	if err := os.MkdirAll(string(s), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(s), "*.part")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
