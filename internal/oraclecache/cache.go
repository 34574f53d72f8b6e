package oraclecache

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weir-go/weir/sim"
)

// A Cache is a folder that stores oracles and baselines between runs. The empty Cache stores
// none. It does not notice changes of the simulator itself: empty the folder after one.
// Several processes may share a folder.
type Cache string

// Sweep returns the result of [sim.SweepOn] from the cache, or computes and stores it. An
// error may also come from the file system.
func (c Cache) Sweep(processors int, scenario sim.Scenario, seed uint64) (*sim.Oracle, error) {
	path, ok := c.file(scenario, seed, "oracle")
	if !ok {
		return sim.SweepOn(processors, scenario, seed)
	}
	stored := new(sim.Oracle)
	if data, err := os.ReadFile(path); err == nil && stored.UnmarshalBinary(data) == nil {
		return stored, nil
	}
	oracle, err := sim.SweepOn(processors, scenario, seed)
	if err != nil {
		return nil, err
	}
	data, err := oracle.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return oracle, c.store(data, path)
}

// Baseline returns the result of [sim.BaselineOf] from the cache, or computes and stores it.
// An error may also come from the file system.
func (c Cache) Baseline(scenario sim.Scenario, seed uint64) (*sim.Baseline, error) {
	path, ok := c.file(scenario, seed, "baseline")
	if !ok {
		return sim.BaselineOf(scenario, seed)
	}
	stored := new(sim.Baseline)
	if data, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(data, stored) == nil && len(stored.Phases) == len(scenario.Phases) {
			return stored, nil
		}
	}
	baseline, err := sim.BaselineOf(scenario, seed)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(baseline)
	if err != nil {
		return nil, err
	}
	return baseline, c.store(data, path)
}

// file returns the path of an oracle or a baseline, named after all its inputs. ok is false
// for a trace, a source, and parts without a text form.
func (c Cache) file(scenario sim.Scenario, seed uint64, what string) (path string, ok bool) {
	if c == "" || scenario.Trace != nil || scenario.Source != nil {
		return "", false
	}
	scenario.Limiter = sim.Limiter{Max: scenario.Limiter.Max} // both have their own limits, and no queue
	text, err := json.Marshal(scenario)
	if err != nil {
		return "", false
	}
	return filepath.Join(string(c), fmt.Sprintf("%x-%d.%s", sha256.Sum256(text), seed, what)), true
}

// store writes the file under another name first, so that a concurrent reader finds all of it
// or nothing.
func (c Cache) store(data []byte, path string) error {
	if err := os.MkdirAll(string(c), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(string(c), "*.part")
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
