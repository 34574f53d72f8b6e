package bulkhead

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/weir-go/weir"
)

// mostSaved is the largest number of keys in a saved state.
const mostSaved = 1000

// stateVersion is the version of the form of a saved state.
const stateVersion = 1

type savedState struct {
	Version int    `json:"version"`
	Keys    states `json:"keys"` // the keys that the configuration named
	Unknown states `json:"unknown,omitempty"`
}

// states has the results of [weir.Limiter.Save], by key.
type states map[string]json.RawMessage

// Save returns the knowledge of the limiters of up to 1,000 keys, as JSON of about 150 bytes a
// key: first of the keys that [Config].ByKey names, then of the keys in use. A key that is not
// UTF-8 is left out, because JSON cannot have it. [Set.Restore] takes the state in another process,
// as after a restart.
func (s *Set) Save() []byte {
	named, unknown := s.latest(mostSaved)
	state, err := json.Marshal(savedState{Version: stateVersion, Keys: statesOf(named), Unknown: statesOf(unknown)})
	if err != nil {
		panic(err) // Limiter.Save returns JSON
	}
	return state
}

func statesOf(all []*compartment) states {
	saved := make(states, len(all))
	for _, c := range all {
		if utf8.ValidString(c.key) {
			saved[c.key] = c.limiter.Save()
		}
	}
	return saved
}

// latest returns up to n compartments: the named ones, then the ones that were used since the hand
// of the clock passed them, then the rest.
func (s *Set) latest(n int) (named, unknown []*compartment) {
	byKey := s.table.Load().byKey
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		named = append(named, byKey[key])
	}
	d := &s.dynamic
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, used := range []bool{true, false} {
		for _, c := range d.ring {
			if c.used.Load() == used {
				unknown = append(unknown, c)
			}
		}
	}
	named = named[:min(n, len(named))]
	return named, unknown[:min(n-len(named), len(unknown))]
}

// Restore lets the keys continue from a state that [Set.Save] returned; see
// [weir.Limiter.Restore].
// Call it before the set admits work. Keys that [Config].ByKey named then and does not name now are
// left out. Keys that ByKey did not name get compartments, as far as [Config].MaxKeys has room.
//
// The error matches [weir.ErrConfig]. Either the state is invalid, and the set is unchanged, or the
// error names each key whose limiter has another law; all other keys are restored.
func (s *Set) Restore(state []byte) error {
	saved, err := parseState(state)
	if err != nil {
		return fmt.Errorf("%w: saved state of a set: %w", weir.ErrConfig, err)
	}
	s.updating.Lock()
	defer s.updating.Unlock()
	var errs []error
	named := s.table.Load().byKey
	for _, key := range slices.Sorted(maps.Keys(saved.Keys)) {
		if c := named[key]; c != nil {
			errs = append(errs, c.limiter.Restore(saved.Keys[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(saved.Unknown)) {
		c, err := s.find(key, !s.isFull()) // no key gives way to a later one
		if c != nil && c != named[Overflow] {
			err = c.limiter.Restore(saved.Unknown[key])
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// isFull reports whether another unknown key would have to replace an older key.
func (s *Set) isFull() bool {
	s.dynamic.mu.RLock()
	defer s.dynamic.mu.RUnlock()
	return len(s.dynamic.ring) >= s.table.Load().conf.MaxKeys
}

func parseState(state []byte) (saved savedState, err error) {
	if err := json.Unmarshal(state, &saved); err != nil {
		return saved, fmt.Errorf("%w: want what Save returned", err)
	}
	if saved.Version != stateVersion {
		return saved, fmt.Errorf("it has version %d, and this program reads %d: start without it", saved.Version, stateVersion)
	}
	if n := len(saved.Keys) + len(saved.Unknown); n > mostSaved {
		return saved, fmt.Errorf("it has %d keys: want at most %d", n, mostSaved)
	}
	for key := range saved.Unknown {
		if problem := problemOf(key); problem != "" {
			return saved, fmt.Errorf("key %s", problem)
		}
	}
	return saved, nil
}
