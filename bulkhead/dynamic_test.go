package bulkhead_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/bulkhead"
)

func TestIdleKeysGiveWay(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 3, Max: 100, Default: fixed(2, 0, 0)})
	busy := hold(t, s, "busy", 1)
	for i := range 50 {
		hold(t, s, fmt.Sprint(i), 1)[0].Done(nil)
	}
	snap := s.Snapshot()
	if _, ok := snap.ByKey["busy"]; !ok || snap.Unknown != 3 || snap.Evicted != 48 || len(snap.ByKey) != 4 {
		t.Errorf("unknown %d, evicted %d, %v", snap.Unknown, snap.Evicted, snap.ByKey)
	}
	if snap.Total.Admitted != 51 || snap.Total.Completed != 50 || snap.ByKey[bulkhead.Overflow].Admitted != 0 {
		t.Errorf("totals were lost with the keys: %+v", snap.Total)
	}
	busy[0].Done(nil)
	balanced(t, s)
}

// TestKeysInUseAreNotEvicted: new keys of one use each do not drive out keys that are
// used again and again, even if they are idle in between.
func TestKeysInUseAreNotEvicted(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 20, Default: fixed(2, 0, 0)})
	for i := range 2000 {
		hold(t, s, fmt.Sprint("regular", i%10), 1)[0].Done(nil)
		hold(t, s, fmt.Sprint("newcomer", i), 1)[0].Done(nil)
	}
	snap := s.Snapshot()
	for i := range 10 {
		if n := snap.ByKey[fmt.Sprint("regular", i)].Admitted; n != 200 {
			t.Errorf("regular %d remembers %d of 200", i, n)
		}
	}
	if n := snap.ByKey[bulkhead.Overflow].Admitted; n > 0 {
		t.Errorf("%d new keys overflowed", n)
	}
}

func TestOverflowTakesWhatFindsNoRoom(t *testing.T) {
	s := newSet(t, bulkhead.Config{
		MaxKeys: 2, Default: fixed(1, 0, 0),
		ByKey: byKey{"checkout": fixed(1, 0, 0), bulkhead.Overflow: fixed(3, 0, 0)},
	})
	first := hold(t, s, "a", 1)
	hold(t, s, "b", 1)
	for i := range 3 {
		hold(t, s, fmt.Sprint("more", i), 1)
	}
	if _, err := s.Acquire(t.Context(), "fourth"); err == nil ||
		!strings.Contains(err.Error(), `"(overflow)" refused`) {
		t.Errorf("got %v", err)
	}
	hold(t, s, "checkout", 1) // is out of their reach
	h, _ := s.Handle("more0")
	if _, ok := h.TryAcquire(t.Context()); ok {
		t.Error("the overflow has more than its slots")
	}
	first[0].Done(nil)
	if _, ok := h.TryAcquire(t.Context()); !ok { // and no longer in the overflow
		t.Error("a handle stays in the overflow")
	}
	if k, ok := s.Snapshot().ByKey["more0"]; !ok || k.InFlight != 1 {
		t.Errorf("%+v", k)
	}
}

func TestHandleOutlivesItsCompartment(t *testing.T) {
	s := newSet(t, bulkhead.Config{MaxKeys: 1, Max: 10, Default: fixed(1, 0, 0)})
	h, err := s.Handle("a")
	if err != nil || h.Key() != "a" {
		t.Fatal(err)
	}
	for range 3 {
		for range 2 { // so that it was used again
			permit, err := h.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			permit.Done(nil)
		}
		hold(t, s, "b", 1)[0].Done(nil)
		if _, ok := s.Snapshot().ByKey["a"]; ok {
			t.Fatal("was not evicted")
		}
	}
	if err := h.Do(t.Context(), work(0)); err != nil {
		t.Error(err)
	}
	if s.Snapshot().Evicted != 6 {
		t.Errorf("%d evictions", s.Snapshot().Evicted)
	}
	balanced(t, s)
}

// TestWhoWaitsKeepsTheKey: a compartment in which somebody waits is not idle.
func TestWhoWaitsKeepsTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSet(t, bulkhead.Config{MaxKeys: 1, Default: fixed(1, 5, time.Minute)})
		held := hold(t, s, "a", 1)
		waiting := ask(t.Context(), s, "a")
		hold(t, s, "b", 1)
		held[0].Done(nil)
		admitted(t, waiting).Done(nil)
		if k := s.Snapshot().ByKey["a"]; k.Completed != 2 {
			t.Errorf("%+v", k)
		}
	})
}

// A law panics as it is started: no other key was evicted for its key, and the set works as before.
func TestFailedCreationChangesNothing(t *testing.T) {
	var fail bool
	c := bulkhead.Config{MaxKeys: 3, Max: 10, Default: fixed(1, 0, 0)}
	c.Default.Config.Law = starting(func() {
		if fail {
			panic("boom")
		}
	})
	s := newSet(t, c)
	for i := range 3 {
		hold(t, s, fmt.Sprint(i), 1)[0].Done(nil)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		fail = true
		s.TryAcquire(t.Context(), "bad")
	}()
	fail = false
	if snap := s.Snapshot(); snap.Unknown != 3 || snap.Evicted != 0 {
		t.Errorf("%d keys, %d evicted: want 3 and none", snap.Unknown, snap.Evicted)
	}
	for i := range 6 {
		hold(t, s, fmt.Sprint("new", i), 1)[0].Done(nil)
	}
	if snap := s.Snapshot(); snap.Unknown != 3 || snap.ByKey[bulkhead.Overflow].Admitted != 0 {
		t.Errorf("%+v", snap)
	}
	balanced(t, s)
}

var hostileKeys = flag.Int("hostile", 50_000, "keys of TestHostileKeys")

// TestHostileKeys: any number of keys takes no more than MaxKeys of them, and leaves the
// configured one as it was. A million take a few seconds:
//
//	go test -run HostileKeys -v ./bulkhead -hostile 1000000
func TestHostileKeys(t *testing.T) {
	keys := *hostileKeys
	for _, c := range []struct {
		name string
		max  int
	}{{"no cap", 0}, {"capped", 1000}} {
		t.Run(c.name, func(t *testing.T) {
			const maxKeys = 1000
			checkout := fixed(2, 0, 0)
			s := newSet(t, bulkhead.Config{
				MaxKeys: maxKeys, Max: c.max, Default: fixed(2, 0, 0),
				ByKey: byKey{"checkout": checkout},
			})
			before := heap()
			long := strings.Repeat("x", 1000)
			for i := range keys {
				key := fmt.Sprintf("%s%d", long, i)[len(long)-200:] // keeps a kilobyte alive if it is not copied
				if permit, ok := s.TryAcquire(t.Context(), key); ok {
					permit.Done(nil)
				}
			}
			grown := (heap() - before) / maxKeys
			t.Logf("%d keys: %d B for each of the %d that there may be", keys, grown, maxKeys)
			if grown > 1536 && !raceEnabled {
				t.Errorf("want at most 1536 B")
			}
			snap := s.Snapshot()
			if snap.Unknown != maxKeys || len(snap.ByKey) != maxKeys+2 || snap.Total.Admitted != uint64(keys) {
				t.Errorf("%d keys, %d admitted", snap.Unknown, snap.Total.Admitted)
			}
			hold(t, s, "checkout", 2)
			runtime.KeepAlive(s)
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestStorm has everything happen at once: keys come and go, settings change, callers
// leave the queue. In the end all is back.
func TestStorm(t *testing.T) {
	for _, capped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { storm(t, capped) })
	}
}

func storm(t *testing.T, capped bool) {
	table := func(r *rand.Rand) bulkhead.Config {
		c := bulkhead.Config{
			MaxKeys: 2 + r.IntN(6), Default: fixed(1+r.IntN(3), r.IntN(4), 5*time.Millisecond),
			ByKey: byKey{},
		}
		for i := range 8 {
			if r.IntN(2) == 0 {
				k := fixed(2+r.IntN(3), r.IntN(4), 10*time.Millisecond)
				if capped {
					k.Reserved, k.Share = r.IntN(3), 1+r.Float64()
				}
				c.ByKey[fmt.Sprint("key", i)] = k
			}
		}
		if capped {
			c.Max = 16 + r.IntN(5)
		}
		return c
	}
	s := newSet(t, table(rand.New(rand.NewPCG(1, 1))))
	var all sync.WaitGroup
	var running, started atomic.Int64
	for w := range 24 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(w)))
			handle, _ := s.Handle("key0")
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(20))*time.Millisecond)
				fn := func(context.Context) error {
					started.Add(1)
					if n := running.Add(1); capped && n > 20 {
						t.Errorf("%d run at once", n)
					}
					time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
					running.Add(-1)
					return nil
				}
				if r.IntN(8) == 0 {
					_ = handle.Do(ctx, fn)
				} else {
					_ = s.Do(ctx, fmt.Sprint("key", r.IntN(20)), fn)
				}
				cancel()
			}
		})
	}
	all.Go(func() {
		r := rand.New(rand.NewPCG(3, 3))
		for range 50 {
			time.Sleep(time.Duration(1+r.IntN(10)) * time.Millisecond)
			if err := s.Update(table(r)); err != nil {
				t.Error(err)
			}
			s.Snapshot()
		}
	})
	all.Wait()
	balanced(t, s)
	total := s.Snapshot().Total
	if got := total.Completed - total.Ignored; got != uint64(started.Load()) || got == 0 { // ignored: left in the instant of its admission
		t.Errorf("%d completed, %d started", got, started.Load())
	}
	if err := s.Update(table(rand.New(rand.NewPCG(4, 4)))); err != nil {
		t.Error(err)
	}
	if n := s.Snapshot().Leaving; n != 0 {
		t.Errorf("%d idle compartments did not go", n)
	}
}
