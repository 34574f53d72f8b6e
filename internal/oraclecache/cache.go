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

// A Cache is a folder that stores oracles and baselines between runs. The empty Cache stores
// none. It does not notice changes of the simulator itself: empty the folder after one.
// Several processes may share a folder.
type Cache string

// Sweep returns the result of [sim.SweepOn] from the cache, or computes and stores it. An
// error may also come from the file system.
func (c Cache) Sweep(processors int, scenario sim.Scenario, seed uint64) (*sim.Oracle, error) {
	return cached(c, scenario, seed, "oracle", func(o *sim.Oracle) int { return len(o.Phases) },
		func() (*sim.Oracle, error) { return sim.SweepOn(processors, scenario, seed) })
}

// Baseline returns the result of [sim.BaselineOf] from the cache, or computes and stores it.
// An error may also come from the file system.
func (c Cache) Baseline(scenario sim.Scenario, seed uint64) (*sim.Baseline, error) {
	return cached(c, scenario, seed, "baseline", func(b *sim.Baseline) int { return len(b.Phases) },
		func() (*sim.Baseline, error) { return sim.BaselineOf(scenario, seed) })
}

// cached returns the stored result, if it has the phases of the scenario, or else computes and
// stores it.
func cached[T any](c Cache, scenario sim.Scenario, seed uint64, what string, phases func(*T) int, compute func() (*T, error)) (*T, error) {
	path, ok := c.file(scenario, seed, what)
	if !ok {
		return compute()
	}
	stored := new(T)
	if data, err := os.ReadFile(path); err == nil {
		if json.Unmarshal(data, stored) == nil && phases(stored) == len(scenario.Phases) {
			return stored, nil
		}
	}
	computed, err := compute()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(computed)
	if err != nil {
		return nil, err
	}
	return computed, c.store(data, path)
}

// file returns the path of an oracle or a baseline, named after all its inputs. ok is false
// for a trace, and for parts without a text form.
func (c Cache) file(scenario sim.Scenario, seed uint64, what string) (path string, ok bool) {
	if c == "" || scenario.Trace != nil {
		return "", false
	}
	// Both have their own limits, and no queue. The bounds say how far the limits of an oracle go.
	scenario.Limiter = sim.Limiter{Min: scenario.Limiter.Min, Max: scenario.Limiter.Max}
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
