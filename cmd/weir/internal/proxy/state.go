package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/weir-go/weir/bulkhead"
)

// saveEvery is how often the state is saved, so that a crash loses little.
const saveEvery = time.Minute

// restore lets the limiters go on from the file that an earlier proxy saved. A file that cannot
// be used costs only its state.
func (p *Proxy) restore(file string) {
	state, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		p.log.Info("no saved state yet, the limits start afresh", "state", file)
		return
	}
	if err == nil {
		err = p.set.Restore(onlyNamed(state, p.set.Config().ByKey))
	}
	if err != nil {
		p.log.Warn("cannot restore all limits, the others start afresh", "state", file, "error", err)
		return
	}
	p.log.Info("limits restored", "state", file)
}

// onlyNamed leaves out the compartments that the configuration does not have any more. The set
// would make them again.
func onlyNamed(state []byte, by map[string]bulkhead.Compartment) []byte {
	var saved struct {
		Version int                        `json:"version"`
		Keys    map[string]json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(state, &saved) != nil {
		return state // Restore says why
	}
	maps.DeleteFunc(saved.Keys, func(key string, _ json.RawMessage) bool {
		_, ok := by[key]
		return !ok
	})
	text, err := json.Marshal(saved)
	if err != nil {
		panic(err) // it was JSON
	}
	return text
}

// keepState saves the state now and then, and at last when ctx ends.
func (p *Proxy) keepState(ctx context.Context, file string) {
	often := time.NewTicker(saveEvery)
	defer often.Stop()
	for done := false; !done; {
		select {
		case <-often.C:
		case <-ctx.Done():
			done = true
		}
		if err := replaceFile(file, p.set.Save()); err != nil {
			p.log.Warn("cannot save the limits, a restart starts afresh", "state", file, "error", err)
		}
	}
}

// replaceFile writes a file whole or not at all.
func replaceFile(file string, data []byte) error {
	next := file + ".new"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, file)
}
