package proxy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// saveEvery is how often the state is saved, so that a crash loses little.
const saveEvery = time.Minute

// restore lets the limiters continue from the file that an earlier proxy saved. A file that cannot
// be used costs only its state.
func (p *Proxy) restore(file string) {
	state, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		p.log.Info("no saved state yet, the limits start afresh", "state", file)
		return
	}
	if err == nil {
		err = p.set.Restore(state)
	}
	if err != nil {
		p.log.Warn("cannot restore all limits, the others start afresh", "state", file, "error", err)
		return
	}
	p.log.Info("limits restored", "state", file)
}

// keepState saves the state every minute, and once more when ctx ends.
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
