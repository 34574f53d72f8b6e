package fleet_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
)

// A slow store takes its time for each write, and does not apply one that is given up.
type slow struct {
	*storetest.Memory
	t     *testing.T
	takes time.Duration

	mu   sync.Mutex
	busy map[string]bool // the keys that are put
}

func (s *slow) Write(ctx context.Context, w fleet.Write) error {
	if !w.Swap {
		s.put(w.Key, true)
		defer s.put(w.Key, false)
	}
	select {
	case <-time.After(s.takes):
		return s.Memory.Write(ctx, w)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slow) put(key string, begins bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if begins && s.busy[key] {
		s.t.Errorf("two writes of %q are on their way: the older one may come last", key)
	}
	s.busy[key] = begins
}

// A store that takes more than a refresh for each write still leases shares: several writes of an
// allocator are on their way at once.
func TestStoreIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t, quick)
		defer p.leave()
		for range 3 {
			p.join(func(c *fleet.Config) {
				c.Store = &slow{Memory: p.store, t: t, takes: 5 * c.Refresh / 4, busy: map[string]bool{}}
			})
		}
		p.live(10*time.Second, 50, 50, 50)
		for range 50 {
			p.live(quick.Refresh, 50, 50, 50)
			for _, a := range p.apps {
				if s := a.Snapshot(); !s.Leased || s.Share < 9 || s.Err != "" {
					t.Fatalf("%+v of a slow store: want a lease of 10", s)
				}
			}
		}
	})
}
