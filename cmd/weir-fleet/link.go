package main

import (
	"context"
	"sync"
	"time"

	"github.com/weir-go/weir/fleet"
)

// A link is a store that is opened in the background, and anew after an error: its table or bucket
// may be gone. Calls wait for the first attempt; while it is not open, they fail with the reason.
type link struct {
	tried  chan struct{} // closed after the first attempt
	broken chan struct{} // has a value after an error

	mu    sync.Mutex
	store fleet.Store
	err   error // why there is no store
}

func newLink() *link { return &link{tried: make(chan struct{}), broken: make(chan struct{}, 1)} }

// The times of a link.
const (
	openTimeout = 5 * time.Second
	pause       = time.Second // between attempts
)

// keep opens the store, and again once it is broken, until ctx ends.
func (l *link) keep(ctx context.Context, open func(context.Context) (fleet.Store, error)) {
	first := sync.OnceFunc(func() { close(l.tried) })
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, openTimeout)
		store, err := open(limited)
		cancel()
		l.mu.Lock()
		l.store, l.err = store, err
		l.mu.Unlock()
		first()
		if err == nil {
			select {
			case <-l.broken:
			case <-ctx.Done():
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// use calls a function with the store, and has it opened anew after an error that was not the
// caller's.
func (l *link) use(ctx context.Context, call func(fleet.Store) error) error {
	select {
	case <-l.tried:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	store, err := l.store, l.err
	l.mu.Unlock()
	if err != nil {
		return err
	}
	if err = call(store); err != nil && ctx.Err() == nil {
		select {
		case l.broken <- struct{}{}:
		default:
		}
	}
	return err
}

// Write applies a write.
func (l *link) Write(ctx context.Context, w fleet.Write) error {
	return l.use(ctx, func(store fleet.Store) error { return store.Write(ctx, w) })
}

// Watch shows the entries below a key, and each change.
func (l *link) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	return l.use(ctx, func(store fleet.Store) error { return store.Watch(ctx, key, see) })
}
