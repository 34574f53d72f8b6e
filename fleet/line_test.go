package fleet_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/lease"
)

// A line is the way of one member to the store. It may be cut in one direction or in both.
type line struct {
	*storetest.Memory

	mu     sync.Mutex
	mute   bool                                                   // writes fail
	deaf   bool                                                   // watches fail
	ending map[*context.CancelFunc]bool                           // the watches
	all    func(ctx context.Context, see func(fleet.Entry)) error // in place of the watch of all keys
}

func (l *line) Write(ctx context.Context, w fleet.Write) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mute {
		return storetest.ErrDown
	}
	return l.Memory.Write(ctx, w)
}

func (l *line) Watch(ctx context.Context, key string, see func(fleet.Entry)) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	l.mu.Lock()
	deaf, all := l.deaf, l.all
	l.ending[&end] = true
	l.mu.Unlock()
	if deaf {
		return storetest.ErrDown
	}
	if key == lease.AllKeys && all != nil {
		return all(ctx, see)
	}
	return l.Memory.Watch(ctx, key, see)
}

// set cuts both directions, or joins them.
func (l *line) set(cut bool) { l.cut(cut, cut) }

func (l *line) cut(mute, deaf bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute, l.deaf = mute, deaf
	for end := range l.ending {
		(*end)()
		delete(l.ending, end)
	}
}

// An allocator that loses its connection is replaced. The others share the cap once the lease of
// its part has ended. When its connection is back, it follows the new allocator, and reports no
// error of its watch.
func TestLineOfTheAllocatorIsCut(t *testing.T) {
	for name, sides := range map[string]struct{ mute, deaf bool }{"writes fail": {mute: true}, "watches fail": {deaf: true}, "both": {true, true}} {
		t.Run(name, func(t *testing.T) {
			c := quick
			c.Fallback = fleet.Refuse
			meet(t, c, 1, func(t *testing.T, p *party) {
				p.live(8*time.Second, 50)
				p.join()
				p.join()
				p.live(5*time.Second, 50, 50, 50)
				first := p.apps[0]
				if !first.Snapshot().Leads {
					t.Fatalf("%+v does not lead", first.Snapshot())
				}
				first.line.cut(sides.mute, sides.deaf)
				p.live(20*time.Second, 0, 50, 50)
				if s := p.shares(); s[1] < 13 || s[2] < 13 || !p.apps[1].Snapshot().Leads && !p.apps[2].Snapshot().Leads {
					t.Errorf("shares of %v while the allocator is cut off: want about half each; %+v", s, p.apps[1].Snapshot())
				}
				first.line.cut(false, false)
				p.live(10*time.Second, 50, 50, 50)
				if s := first.Snapshot(); s.Leads || !s.Leased || s.Err != "" {
					t.Errorf("back in the fleet it has %+v", s)
				}
				if s := p.shares(); s[0] < 9 || s[1] < 9 || s[2] < 9 {
					t.Errorf("shares of %v with the line whole again: want 10 each", s)
				}
			})
		})
	}
}

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
	meet(t, quick, 0, func(t *testing.T, p *party) {
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
