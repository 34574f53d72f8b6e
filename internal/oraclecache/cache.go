package oraclecache

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/weir-go/weir/sim"
)

// A Cache is a folder that stores oracles between runs. The empty Cache stores none. A Cache does
// not notice changes of the simulator itself: empty the folder after such a change. Several
// processes may share a folder.
type Cache string

// Sweep returns the result of [sim.SweepOn] from the cache, or computes and stores it. An
// error may also come from the file system.
func (c Cache) Sweep(processors int, scenario sim.Scenario, seed uint64) (*sim.Oracle, error) {
	path, kept := c.file(scenario, seed)
	if data, err := os.ReadFile(path); kept && err == nil {
		stored := new(sim.Oracle)
		if json.Unmarshal(data, stored) == nil && len(stored.Phases) == len(scenario.Phases) {
			return stored, nil
		}
	}
	computed, err := sim.SweepOn(processors, scenario, seed)
	if err != nil || !kept {
		return computed, err
	}
	data, err := json.Marshal(computed)
	if err != nil {
		return nil, err
	}
	return computed, c.store(data, path)
}

// file returns the path of an oracle, named after all its inputs. An oracle of a trace, or of parts
// without a text form, is not kept.
func (c Cache) file(scenario sim.Scenario, seed uint64) (path string, kept bool) {
	if c == "" || scenario.Trace != nil {
		return "", false
	}
	// An oracle has its own limits, and no queue. The bounds decide how far its limits go.
	scenario.Limiter = sim.Limiter{Min: scenario.Limiter.Min, Max: scenario.Limiter.Max}
	text, err := json.Marshal(scenario)
	if err != nil {
		return "", false
	}
	return filepath.Join(string(c), fmt.Sprintf("%x-%d.oracle", sha256.Sum256(text), seed)), true
}

// store writes the file under another name first, so that a concurrent reader finds the whole file
// or no file.
func (c Cache) store(data []byte, path string) error {
	if err := os.MkdirAll(string(c), 0o755); err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%x.part", path, rand.Uint64())
	err := os.WriteFile(part, data, 0o644)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}
