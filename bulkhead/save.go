package bulkhead

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-go/weir"
)

// mostSaved is the largest number of keys in a saved state.
const mostSaved = 1000

// stateVersion is the version of the form of a saved state.
const stateVersion = 1

type savedState struct {
	Version int                        `json:"version"`
	Keys    map[string]json.RawMessage `json:"keys"` // as weir.Limiter.Save returns it
}

// Save returns the knowledge of the limiters of up to 1,000 keys, as JSON of about 150 bytes a
// key: first of the keys that [Config].ByKey names, then of the keys in use. [Set.Restore] takes it
// in another process, as after a restart.
func (s *Set) Save() []byte {
	saved := savedState{Version: stateVersion, Keys: map[string]json.RawMessage{}}
	for _, c := range s.latest(mostSaved) {
		saved.Keys[c.key] = c.limiter.Save()
	}
	state, err := json.Marshal(saved)
	if err != nil {
		panic(err) // Limiter.Save returns JSON
	}
	return state
}

// latest returns up to n compartments: the named ones, then the ones in use since the hand of the
// clock passed them.
func (s *Set) latest(n int) []*compartment {
	named := s.table.Load().byKey
	all := make([]*compartment, 0, len(named))
	for _, key := range slices.Sorted(maps.Keys(named)) {
		all = append(all, named[key])
	}
	d := &s.dynamic
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, used := range []bool{true, false} {
		for _, c := range d.ring {
			if c.used.Load() == used {
				all = append(all, c)
			}
		}
	}
	return all[:min(n, len(all))]
}

// Restore makes the keys go on from a state that [Set.Save] returned; see [weir.Limiter.Restore].
// Call it before the set admits work. Keys that [Config].ByKey does not name get compartments,
// as far as [Config].MaxKeys has room.
//
// The error matches [weir.ErrConfig]. Either the state is invalid, and the set is unchanged, or the
// error names each key whose limiter has another law; all others are restored.
func (s *Set) Restore(state []byte) error {
	var saved savedState
	if err := json.Unmarshal(state, &saved); err != nil {
		return fmt.Errorf("%w: saved state of a set: %w: want what Save returned", weir.ErrConfig, err)
	}
	if saved.Version != stateVersion {
		return fmt.Errorf("%w: saved state of a set: it has version %d, and this program reads %d: start without it",
			weir.ErrConfig, saved.Version, stateVersion)
	}
	if len(saved.Keys) > mostSaved {
		return fmt.Errorf("%w: saved state of a set: it has %d keys: want at most %d", weir.ErrConfig, len(saved.Keys), mostSaved)
	}
	keys := slices.Sorted(maps.Keys(saved.Keys))
	for _, key := range keys {
		if problem := problemOf(key); problem != "" {
			return fmt.Errorf("%w: saved state of a set: key %s", weir.ErrConfig, problem)
		}
	}
	s.updating.Lock()
	defer s.updating.Unlock()
	var errs []error
	for _, key := range keys {
		c, err := s.find(key, true)
		if err == nil && c.key == key { // not the overflow
			err = c.limiter.Restore(saved.Keys[key])
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
