package stress

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

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/together"
)

// Keys come and go, settings change, the cap moves, and callers leave the queue: the cap holds at
// every moment, the hook gets each refusal, and in the end all is back.
func TestSet(t *testing.T) {
	for _, capped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { testSet(t, capped) })
	}
}

const mostSlots = 20 // the highest cap

func drawTable(r *rand.Rand, capped bool) bulkhead.Config {
	c := bulkhead.Config{
		MaxKeys: 2 + r.IntN(6), Default: limittest.Key(1+r.IntN(3), r.IntN(4), 5*time.Millisecond),
		ByKey: map[string]bulkhead.Compartment{},
	}
	for i := range 8 {
		if r.IntN(2) == 0 {
			k := limittest.Key(2+r.IntN(3), r.IntN(4), 10*time.Millisecond)
			if capped {
				k.Reserved, k.Share = r.IntN(3), 1+r.Float64()
			}
			c.ByKey[fmt.Sprint("key", i)] = k
		}
	}
	if capped {
		c.Max = mostSlots - r.IntN(5)
	}
	return c
}

func testSet(t *testing.T, capped bool) {
	var heard atomic.Uint64
	table := func(r *rand.Rand) bulkhead.Config {
		c := drawTable(r, capped)
		c.OnEvent = func(weir.Event) { heard.Add(1) }
		return c
	}
	s := limittest.NewSet(t, table(rand.New(rand.NewPCG(1, 1))))
	var all sync.WaitGroup
	var inFlight, started atomic.Int64
	for w := range 24 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(w)))
			handle, _ := s.Handle("key0")
			for range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(20))*time.Millisecond)
				weight := 1 + r.IntN(2)
				work := func(context.Context) error {
					started.Add(1)
					if n := inFlight.Add(int64(weight)); capped && n > mostSlots {
						t.Errorf("%d in flight", n)
					}
					time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
					inFlight.Add(-int64(weight))
					return nil
				}
				if r.IntN(8) == 0 {
					_ = handle.DoN(ctx, weight, work)
				} else {
					_ = s.DoN(ctx, fmt.Sprint("key", r.IntN(20)), weight, work)
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
			if capped {
				if err := s.SetMax(r.IntN(mostSlots + 1)); err != nil {
					t.Error(err)
				}
			}
			s.Snapshot()
		}
		if err := s.Update(table(r)); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	total := s.Snapshot().Total
	limittest.Balanced(t, total)
	if got := total.Completed - total.Ignored; got != uint64(started.Load()) || got == 0 { // ignored: left in the instant of its admission
		t.Errorf("%d completed, %d started", got, started.Load())
	}
	if want := total.RefusedTotal(); heard.Load() < want || want == 0 { // changes of limits are events too
		t.Errorf("heard of %d events, of %d refusals", heard.Load(), want)
	}
	if n := s.Snapshot().Leaving; n != 0 {
		t.Errorf("%d idle compartments did not go", n)
	}
}

var hostileKeys = flag.Int("hostile", 50_000, "keys of TestHostileKeys")

// TestHostileKeys: any number of keys takes no more than MaxKeys of them, and leaves the
// configured one as it was. A million take a few seconds:
//
//	go test -run HostileKeys -v ./internal/stress -hostile 1000000
func TestHostileKeys(t *testing.T) {
	keys := *hostileKeys
	for _, c := range []struct {
		name string
		max  int
	}{{"no cap", 0}, {"capped", 1000}} {
		t.Run(c.name, func(t *testing.T) {
			const maxKeys = 1000
			checkout := limittest.Key(2, 0, 0)
			s := limittest.NewSet(t, bulkhead.Config{
				MaxKeys: maxKeys, Max: c.max, Default: limittest.Key(2, 0, 0),
				ByKey: map[string]bulkhead.Compartment{"checkout": checkout},
			})
			before := limittest.Heap()
			long := strings.Repeat("x", 1000)
			for i := range keys {
				key := fmt.Sprintf("%s%d", long, i)[len(long)-200:] // keeps a kilobyte alive if it is not copied
				if permit, err := s.TryAcquire(t.Context(), key); err == nil {
					permit.Done(nil)
				}
			}
			grown := (limittest.Heap() - before) / maxKeys
			t.Logf("%d keys: %d B for each of the %d that there may be", keys, grown, maxKeys)
			if grown > 1536 && !race.Enabled {
				t.Errorf("want at most 1536 B")
			}
			snap := s.Snapshot()
			if snap.Unknown != maxKeys || len(snap.ByKey) != maxKeys+1 || snap.Total.Admitted != uint64(keys) {
				t.Errorf("%d keys, %d admitted", snap.Unknown, snap.Total.Admitted)
			}
			limittest.Hold(t, s, "checkout", 2)
			runtime.KeepAlive(s)
		})
	}
}

func TestUpdatesFollowEachOther(t *testing.T) {
	s := limittest.NewSet(t, bulkhead.Config{Max: 12, Default: limittest.Key(1, 0, 0)})
	together.Do(8, func(i int) {
		for range 20 {
			k := bulkhead.Compartment{Config: limittest.Key(12, 0, 0).Config, Reserved: 12}
			if err := s.Update(bulkhead.Config{
				Max: 12, Default: limittest.Key(1, 0, 0), ByKey: map[string]bulkhead.Compartment{fmt.Sprint(i): k},
			}); err != nil {
				t.Error(err)
			}
		}
	})
	snap := s.Snapshot()
	reserved := 0
	for _, k := range snap.ByKey {
		reserved += k.Reserved
	}
	if len(snap.ByKey) != 1 || reserved != 12 {
		t.Errorf("%d keys with %d reserved: a mixture of updates", len(snap.ByKey), reserved)
	}
}
