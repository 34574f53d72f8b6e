package bench

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/seam"
	"github.com/weir-go/weir/law"
)

// BenchmarkSet prints each way through a set of 1,000 keys as a multiple of the same way
// through one limiter, measured in turn with it.
//
//	go test -run '^$' -bench Set -cpu 1,2 -count 5 ./internal/bench
func BenchmarkSet(b *testing.B) {
	const keys = 1000
	limiter := weir.Config{Min: 1000}
	plain := weir.Must(weir.New(limiter))
	try := func(int) {
		if permit, err := plain.TryAcquire(context.Background()); err == nil {
			permit.Done(nil)
		}
	}
	names := make([]string, keys)
	named := map[string]bulkhead.Compartment{}
	for i := range names {
		names[i] = fmt.Sprintf("GET /resource/%d", i)
		named[names[i]] = bulkhead.Compartment{Config: limiter, Share: 1 + float64(i%3)}
	}
	for _, c := range []struct {
		name string
		conf bulkhead.Config
	}{
		{"named", bulkhead.Config{ByKey: named}},
		{"named, capped", bulkhead.Config{Max: 5000, ByKey: named}},
		{"unknown, capped", bulkhead.Config{Max: 5000, Default: bulkhead.Compartment{Config: limiter}}},
	} {
		set := limittest.NewSet(b, c.conf)
		handles := make([]*bulkhead.Handle, keys)
		for i, name := range names {
			handles[i], _ = set.Handle(name)
		}
		ctx := context.Background()
		for _, way := range []struct {
			name        string
			plain, pass func(i int)
		}{
			{"TryAcquire+Done", try, func(i int) {
				if permit, err := set.TryAcquire(context.Background(), names[i%keys]); err == nil {
					permit.Done(nil)
				}
			}},
			{"Acquire+Done", acquireAndDone(plain), func(i int) {
				if permit, err := set.Acquire(ctx, names[i%keys]); err == nil {
					permit.Done(nil)
				}
			}},
			{
				"Do",
				func(int) { _ = plain.Do(ctx, func(context.Context) error { return nil }) },
				func(i int) { _ = set.Do(ctx, names[i%keys], func(context.Context) error { return nil }) },
			},
			{"handle", try, func(i int) {
				if permit, err := handles[i%keys].TryAcquire(context.Background()); err == nil {
					permit.Done(nil)
				}
			}},
		} {
			compare(b, c.name+"/"+way.name, way.pass, "plain", way.plain)
		}
	}
}

// BenchmarkGroup passes through each limiter under a cap in turn, as a multiple of the time that
// a limiter without one takes. With their number grows how often the processor's caches miss.
//
//	go test -run '^$' -bench 'Group$' -count 5 ./internal/bench
func BenchmarkGroup(b *testing.B) {
	inside := seam.Of[*weir.Limiter, weir.Config, weir.Snapshot]()
	pass := func(l *weir.Limiter) {
		if permit, err := l.TryAcquire(context.Background()); err == nil {
			permit.Done(nil)
		}
	}
	for _, members := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("limiters=%d", members), func(b *testing.B) {
			group := admit.NewGroup(500)
			limiters := make([]*weir.Limiter, members)
			for i := range limiters {
				limiters[i] = weir.Must(inside.New(weir.Config{}, group, admit.Allocation{Share: 1}))
				pass(limiters[i]) // the first use allocates
			}
			plain := weir.Must(weir.New(weir.Config{}))
			b.ResetTimer()
			Against(b, 1, func(i int) { pass(limiters[i%members]) }, "plain", func(int) { pass(plain) })
		})
	}
}

var memoryKeys = flag.Int("keys", 2000, "keys of TestMemoryOfAdaptiveKeys")

// TestMemoryOfAdaptiveKeys measures the memory of a key whose limiter was used: queueing,
// changes of the limit, latencies over three decades. A hundred thousand have to fit in
// 145 MB, key and table included, also under a cap, which knows something of each; with
// law.Setpoint, once the limit was reached, in 225 MB. Of 2000 a key takes 20 bytes more.
func TestMemoryOfAdaptiveKeys(t *testing.T) {
	race.Skip(t, "the race detector changes sizes")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []struct {
		name   string
		law    law.Law
		max    int
		queues bool  // to the end; Setpoint raises the limit until nothing waits
		most   int64 // bytes a key
	}{
		{"Band", law.Band{}, 0, true, 1384},
		{"AIMD", law.AIMD{}, 0, true, 1456},
		{"Band, capped", law.Band{}, 1_000_000, true, 1400},
		{"Setpoint", law.Setpoint{}, 0, false, 2275},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const batch = 20
				keys := *memoryKeys
				k := bulkhead.Compartment{Config: weir.Config{
					Initial: 2, Max: 50, Law: c.law,
					Queue: weir.Queue{Size: 5, Timeout: time.Minute},
				}}
				wear := func(s *bulkhead.Set, from int) {
					var all sync.WaitGroup
					for i := from; i < from+batch; i++ {
						callers(t, &all, uint64(i), func(work func(context.Context) error) error {
							return s.Do(t.Context(), fmt.Sprintf("GET /resource/%d", i), work)
						})
					}
					all.Wait()
				}
				first := limittest.NewSet(t, bulkhead.Config{Default: k})
				wear(first, 0) // the runtime keeps goroutines and timers
				s := limittest.NewSet(t, bulkhead.Config{Default: k, Max: c.max, MaxKeys: keys})
				before := limittest.Heap()
				for from := 0; from < keys; from += batch {
					wear(s, from)
				}
				each := (limittest.Heap() - before) / int64(keys)
				total := s.Snapshot().Total
				changes := float64(total.Raised+total.Cut) / float64(keys)
				t.Logf("%d B a key; %.1f changes of the limit, mean wait %v", each, changes, total.QueueWait)
				if total.Completed != uint64(keys*workers*pieces) || changes < 1 || c.queues && total.QueueWait == 0 {
					t.Errorf("not used as intended: %+v", total)
				}
				if each > c.most {
					t.Errorf("want at most %d B", c.most)
				}
				runtime.KeepAlive(first)
			})
		})
	}
}
