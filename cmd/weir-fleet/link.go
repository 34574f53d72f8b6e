package main

import (
	"context"
	"sync"
	"time"

	"github.com/weir-go/weir/fleet"
)

// A link opens a store in the background, and opens it anew after an error, because its table or
// bucket may be gone. Calls wait for the first attempt. While the store is not open, they fail with
// the reason.
type link struct {
	tried  chan struct{} // closed after the first attempt
	broken chan struct{} // has a value after an error

	mu    sync.Mutex
	store fleet.Store
	err   error // why there is no store
}

func newLink() *link { return &link{tried: make(chan struct{}), broken: make(chan struct{}, 1)} }

// A link opens its store with these times.
const (
	openTimeout = 5 * time.Second
	pause       = time.Second // between attempts
)

// keep opens the store, and opens it again after each error, until ctx ends.
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

// use calls a function with the store. If the call fails before the end of ctx, keep opens the
// store anew.
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

// Watch calls see with each entry below a key, and with each change.
func (l *link) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	return l.use(ctx, func(store fleet.Store) error { return store.Watch(ctx, key, see) })
}
