package bulkhead

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/weir-go/weir"
)

// A Handle is one key of a [Set], looked up beforehand. It stays valid whatever becomes of the key:
// if its compartment was evicted or replaced, the next call finds, or makes, the compartment that
// the key has now. A Handle keeps no compartment from being evicted. It is safe for concurrent use,
// a [weir.Admitter], and so a gate of package weirhttp. A nil or zero Handle refuses all work with
// [ErrKey].
type Handle struct {
	set *Set
	key string
	at  atomic.Pointer[compartment] // the compartment that was found last
}

// Handle returns a handle for the key. The error matches [ErrKey] if the key is empty or too long.
// The compartment is only looked up, or made, when the handle is used.
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

// enter enters the compartment that was found last or, if that is shut, the compartment that the
// set finds.
func (h *Handle) enter(create bool) entry {
	if h == nil || h.set == nil {
		return entry{err: badKey("", "of a handle that is nil or zero: want one that Set.Handle returned")}
	}
	if c := h.at.Load(); c != nil && c.enter() {
		c.touch()
		return entry{compartment: c}
	}
	e := h.set.enter(h.key, create)
	if c := e.compartment; c != nil && c.key == h.key { // and not the overflow
		h.at.Store(c)
	}
	return e
}

// Snapshot returns the state of the limiter that would admit work now, as [Set.Snapshot] has it for
// all keys. Like Acquire it makes a limiter for the key if there is none, or uses the limiter of
// the overflow. The state is zero if the handle is zero, or if the set is closed and the key has no
// limiter.
func (h *Handle) Snapshot() weir.Snapshot {
	e := h.enter(true)
	if e.err != nil {
		return weir.Snapshot{}
	}
	defer e.leave()
	return e.limiter.Snapshot()
}

// Do is [Set.Do] for the handle's key.
func (h *Handle) Do(ctx context.Context, fn func(context.Context) error) error {
	return h.DoN(ctx, 1, fn)
}

// DoN is [Set.DoN] for the handle's key.
func (h *Handle) DoN(ctx context.Context, weight int, fn func(context.Context) error) error {
	return h.enter(true).doN(ctx, weight, fn)
}

// Acquire is [Set.Acquire] for the handle's key.
func (h *Handle) Acquire(ctx context.Context) (weir.Permit, error) { return h.AcquireN(ctx, 1) }

// AcquireN is [Set.AcquireN] for the handle's key.
func (h *Handle) AcquireN(ctx context.Context, weight int) (weir.Permit, error) {
	return h.enter(true).acquireN(ctx, weight)
}

// TryAcquire is [Set.TryAcquire] for the handle's key.
func (h *Handle) TryAcquire(ctx context.Context) (weir.Permit, error) {
	return h.enter(true).tryAcquire(ctx)
}

// Full is [Set.Full] for the handle's key.
func (h *Handle) Full(ctx context.Context) error { return h.enter(false).full(ctx) }
