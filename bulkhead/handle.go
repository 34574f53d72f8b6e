package bulkhead

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/weir-go/weir"
)

// A Handle is one key of a [Set], looked up beforehand. It goes on working whatever
// becomes of the key: if its compartment was evicted or replaced, the next call finds,
// or makes, the one that the key has now. A Handle keeps no compartment from being
// evicted. It is safe for concurrent use, a [weir.Admitter], and so a gate of package weirhttp.
// A nil or zero Handle refuses all work with [ErrKey].
type Handle struct {
	set *Set
	key string
	at  atomic.Pointer[compartment] // the last one found
}

// Handle returns a handle for the key. The error matches [ErrKey] if the key is empty
// or too long. The key is only looked up, or made, when the handle is used.
func (s *Set) Handle(key string) (*Handle, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return &Handle{set: s, key: strings.Clone(key)}, nil
}

// Key returns the key.
func (h *Handle) Key() string {
	if h == nil {
		return ""
	}
	return h.key
}

// String returns the key.
func (h *Handle) String() string { return h.Key() }

func (h *Handle) enter() (*compartment, error) { return h.lookUp((*Set).enter) }

// lookUp returns the compartment that was found last or, if it is gone, the one that the set finds.
func (h *Handle) lookUp(find func(*Set, string) (*compartment, error)) (*compartment, error) {
	if h == nil || h.set == nil {
		return nil, badKey("", "of a handle that is nil or zero: want one that Set.Handle returned")
	}
	if c := h.at.Load(); c != nil && c.enter() {
		c.touch()
		return c, nil
	}
	c, err := find(h.set, h.key)
	if c != nil && c.key == h.key { // and not the overflow
		h.at.Store(c)
	}
	return c, err
}

// Snapshot returns the state of the key's limiter, as [Set.Snapshot] has it for all keys. It is
// zero if the key has no limiter.
func (h *Handle) Snapshot() weir.Snapshot {
	c, err := h.enter()
	if err != nil {
		return weir.Snapshot{}
	}
	defer c.leave()
	return c.limiter.Snapshot()
}

// Do is [Set.Do] for the handle's key.
func (h *Handle) Do(ctx context.Context, fn func(context.Context) error) error {
	return h.DoN(ctx, 1, fn)
}

// DoN is [Set.DoN] for the handle's key.
func (h *Handle) DoN(ctx context.Context, weight int, fn func(context.Context) error) error {
	c, err := h.enter()
	if err != nil {
		return err
	}
	defer c.leave()
	return c.limiter.DoN(ctx, weight, fn)
}

// Acquire is [Set.Acquire] for the handle's key.
func (h *Handle) Acquire(ctx context.Context) (weir.Permit, error) { return h.AcquireN(ctx, 1) }

// AcquireN is [Set.AcquireN] for the handle's key.
func (h *Handle) AcquireN(ctx context.Context, weight int) (weir.Permit, error) {
	c, err := h.enter()
	if err != nil {
		return weir.Permit{}, err
	}
	defer c.leave()
	return c.limiter.AcquireN(ctx, weight)
}

// TryAcquire is [Set.TryAcquire] for the handle's key.
func (h *Handle) TryAcquire(ctx context.Context) (weir.Permit, bool) {
	c, err := h.enter()
	if err != nil {
		return weir.Permit{}, false
	}
	defer c.leave()
	return c.limiter.TryAcquire(ctx)
}
