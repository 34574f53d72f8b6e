package simulate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weir-go/weir/sim"
)

// A Shelf is a folder in which oracles are kept from one run to the next. The empty Shelf
// keeps none. It does not notice that the simulator itself has changed.
type Shelf string

// sweep returns the oracle from the shelf, or finds it and puts it there.
func (s Shelf) sweep(processors int, scenario sim.Scenario, seed uint64) (*sim.Oracle, error) {
	path, ok := s.place(scenario, seed)
	if !ok {
		return sim.SweepOn(processors, scenario, seed)
	}
	kept := new(sim.Oracle)
	if data, err := os.ReadFile(path); err == nil && kept.UnmarshalBinary(data) == nil {
		return kept, nil
	}
	oracle, err := sim.SweepOn(processors, scenario, seed)
	if err != nil {
		return nil, err
	}
	return oracle, s.keep(oracle, path)
}

// place is the file of an oracle, named after all that it depends on. A trace and
// parts that have no text form have no place.
func (s Shelf) place(scenario sim.Scenario, seed uint64) (path string, ok bool) {
	if s == "" || scenario.Trace != nil {
		return "", false
	}
	scenario.Limiter = sim.Limiter{Max: scenario.Limiter.Max} // an oracle has its own limits, and no queue
	text, err := json.Marshal(scenario)
	if err != nil {
		return "", false
	}
	return filepath.Join(string(s), fmt.Sprintf("%x-%d.oracle", sha256.Sum256(text), seed)), true
}

// keep writes the file under another name first, so that whoever reads it meanwhile finds
// all of it or nothing.
func (s Shelf) keep(oracle *sim.Oracle, path string) error {
	data, err := oracle.MarshalBinary()
	if err != nil {
		return err
	}
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
