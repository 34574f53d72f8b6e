package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/internal/pipe"
)

// A fleetStore is the store of a fleet, which it reaches through the companion weir-fleet. It
// starts the companion again after the companion has ended.
type fleetStore struct {
	program companion
	log     *slog.Logger
	errors  io.Writer // of the companion
	now     atomic.Pointer[pipe.Store]
}

// startFleetStore starts the companion, and returns the store of a proxy, or nil without a fleet.
// Call stop once the proxy has left the fleet.
func startFleetStore(c *config.Fleet, log *slog.Logger, stderr io.Writer) (store fleet.Store, stop func(), err error) {
	if c == nil {
		return nil, func() {}, nil
	}
	program, err := find("weir-fleet")
	if err != nil {
		return nil, nil, err
	}
	variable, err := handover.Request{Fleet: place(c)}.Encode()
	if err != nil {
		return nil, nil, err
	}
	program.env = []string{variable}
	s := &fleetStore{program: program, log: log, errors: stderr}
	ctx, cancel := context.WithCancel(context.Background())
	first, err := s.start(ctx)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); s.keep(ctx, first) }()
	return s, func() { cancel(); <-ended }, nil
}

func place(c *config.Fleet) *handover.Fleet {
	return &handover.Fleet{
		Name: c.Name, Store: c.Store, Credentials: c.Credentials,
		CA: c.TLS.CA, Certificate: c.TLS.Certificate, Key: c.TLS.Key, ServerName: c.TLS.ServerName,
		Replicas: c.Replicas, Refresh: time.Duration(c.Refresh),
	}
}

// restart is the time between the end of a companion and the next start.
const restart = time.Second

// keep waits for the end of a companion and starts the next one, until ctx ends.
func (s *fleetStore) keep(ctx context.Context, wait func() error) {
	for {
		err := wait()
		if ctx.Err() != nil {
			return
		}
		s.log.Warn("weir-fleet has ended and is started again", "error", err)
		select {
		case <-time.After(restart):
		case <-ctx.Done():
			return
		}
		if wait, err = s.start(ctx); err != nil {
			wait = func() error { return err }
		}
	}
}

// start starts a companion. The end of ctx ends the input of the companion, and so the companion.
// Call wait.
func (s *fleetStore) start(ctx context.Context) (wait func() error, err error) {
	cmd := s.program.command(ctx, streams{err: s.errors})
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel = in.Close
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	store := pipe.New(out, in)
	s.now.Store(store)
	return func() error {
		err := store.Run()
		s.now.Store(nil)
		_ = in.Close() // a companion that has only closed its output ends too
		return cmp.Or(cmd.Wait(), err)
	}, nil
}

// errNoCompanion is the error of calls between the end of a companion and the next start.
var errNoCompanion = errors.New("weir-fleet has ended")

// Write applies a write.
func (s *fleetStore) Write(ctx context.Context, w fleet.Write) error {
	if store := s.now.Load(); store != nil {
		return store.Write(ctx, w)
	}
	return errNoCompanion
}

// Watch calls see with each entry below a key, and with each change.
func (s *fleetStore) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	if store := s.now.Load(); store != nil {
		return store.Watch(ctx, key, see)
	}
	return errNoCompanion
}
