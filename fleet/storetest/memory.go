package storetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/weir-go/weir/fleet"
)

// A Memory is a store in memory, for tests with all members in one process. Make one with
// [NewMemory].
type Memory struct {
	mu      sync.Mutex
	changed chan struct{} // closed by the next write
	entries map[string]fleet.Entry
	rev     uint64
	fails   bool
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{changed: make(chan struct{}), entries: map[string]fleet.Entry{}}
}

// ErrDown is the error of a store that [Memory.Fail] has stopped.
var ErrDown = errors.New("storetest: the store is down")

// Fail stops the store, or lets it go on. While it is stopped, writes are lost and watches end.
func (s *Memory) Fail(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = down
	s.wake()
}

// Forget deletes all entries, as if the store had lost its disk.
func (s *Memory) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.entries)
	s.wake()
}

func (s *Memory) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Write applies a write.
func (s *Memory) Write(_ context.Context, w fleet.Write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return ErrDown
	}
	if w.Swap && s.entries[w.Key].Rev != w.Rev {
		return nil
	}
	s.rev++
	if delete(s.entries, w.Key); w.Value != nil {
		s.entries[w.Key] = fleet.Entry{Key: w.Key, Value: slices.Clone(w.Value), Rev: s.rev}
	}
	s.wake()
	return nil
}

// Watch shows the entries below a key, and each change.
func (s *Memory) Watch(ctx context.Context, below string, see func(fleet.Entry)) error {
	ctx = cmp.Or(ctx, context.Background())
	var seen fleet.Changes
	for {
		s.mu.Lock()
		now, changed, fails := s.entries, s.changed, s.fails
		entries := make([]fleet.Entry, 0, len(now))
		for key, e := range now {
			if below == "" || key == below || strings.HasPrefix(key, below+".") {
				entries = append(entries, e)
			}
		}
		s.mu.Unlock()
		if fails {
			return ErrDown
		}
		seen.Show(entries, see)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
