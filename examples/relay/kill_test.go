package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
)

var kills = flag.Int("kills", 3, "how often TestKilledRelayKeepsWhatItAcknowledged kills the relay")

// TestKilledRelayKeepsWhatItAcknowledged kills a relay while clients publish: events
// answered with OK are there after a restart.
func TestKilledRelayKeepsWhatItAcknowledged(t *testing.T) {
	g := newGenerator(100)
	var signing sync.Mutex
	next := func() *nostr.Event {
		signing.Lock()
		defer signing.Unlock()
		e := g.signed(t)
		return &e
	}
	dir := filepath.Join(t.TempDir(), "store")
	var acknowledged []*nostr.Event
	for i := range *kills {
		r := serve(t, dir, "-message-rate", "100000")
		publishing, stop := context.WithCancel(t.Context())
		published, first := make(chan []*nostr.Event), make(chan struct{})
		go func() {
			published <- publish(publishing, r.public, next, sync.OnceFunc(func() { close(first) }))
		}()
		if i == 0 { // at least one is acknowledged, however slow the machine is
			select {
			case <-first:
			case <-published:
				t.Fatal("no event was acknowledged, and no client goes on")
			}
		}
		<-time.After(rand.N(2 * time.Second))
		must.Do(t, r.process.Process.Kill())
		r.wait()
		stop()
		acknowledged = append(acknowledged, <-published...)
		known(t, dir, acknowledged)
		t.Logf("kill %d: %d events were acknowledged", i+1, len(acknowledged))
	}
	ids := idsIn(t, dir)
	if unique := slices.Compact(slices.Sorted(slices.Values(ids))); len(unique) != len(ids) {
		t.Errorf("%d events are there twice", len(ids)-len(unique))
	}
}

// publish makes a few clients publish events until ctx ends, and returns the events that the
// relay answered with OK. It calls then for each of them.
func publish(ctx context.Context, address string, next func() *nostr.Event, then func()) (acknowledged []*nostr.Event) {
	var mu sync.Mutex
	together.Do(8, func(int) {
		c, err := dial(ctx, address)
		if err != nil {
			return // the relay was killed before it answered
		}
		defer c.close()
		for ctx.Err() == nil {
			if e := next(); c.publish(ctx, e) == nil {
				mu.Lock()
				acknowledged = append(acknowledged, e)
				mu.Unlock()
				then()
			}
		}
	})
	return acknowledged
}
