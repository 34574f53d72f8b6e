package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/law"
)

// The most heap that a limiter may take, in bytes: a service may have a hundred thousand of
// them.
const (
	heapFresh   = 512
	heapUsed    = 1408 // after 300 operations, with queueing and 8 changes of the limit
	heapElastic = 1024 // more for law.Setpoint once the limit was reached
)

// TestMemory bounds the heap that a limiter takes, before and after use, with a law of a few
// numbers and with law.Setpoint, which keeps its estimates.
func TestMemory(t *testing.T) {
	race.Skip(t, "the race detector changes sizes")
	for _, c := range []struct {
		law  law.Law
		used int64
	}{{law.Band{Target: 100 * time.Millisecond}, heapUsed}, {law.Setpoint{}, heapUsed + heapElastic}} {
		t.Run(fmt.Sprint(c.law), func(t *testing.T) { testMemory(t, c.law, c.used) })
	}
}

func testMemory(t *testing.T, l law.Law, most int64) {
	// On one processor the runtime's own goroutines and timers do not blur the figures.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n, batch = 2000, 20
	synctest.Test(t, func(t *testing.T) {
		limiters := make([]*weir.Limiter, n)
		var all sync.WaitGroup
		put := func(from, to int) {
			for i := from; i < to; i++ {
				limiters[i] = weir.Must(weir.New(weir.Config{
					Max: 2, Law: l, Queue: weir.Queue{Size: 5, Timeout: time.Minute},
				}))
			}
		}
		wear := func(from, to int) {
			for i := from; i < to; i++ {
				use(t, &all, limiters[i], l, uint64(i))
			}
			all.Wait()
			for _, l := range limiters[from:to] {
				if s := l.Snapshot(); s.Completed != workers*pieces || s.Raised+s.Cut != 8 || s.DrainRate == 0 {
					t.Fatalf("not used as intended: %v", l)
				}
			}
		}
		put(0, batch) // once untimed: the runtime keeps goroutines and timers
		wear(0, batch)
		clear(limiters)

		before := limittest.Heap()
		put(0, n)
		fresh := limittest.Heap() - before

		for first := 0; first < n; first += batch {
			wear(first, first+batch)
		}
		used := limittest.Heap() - before
		runtime.KeepAlive(limiters)
		t.Logf("heap per limiter: %d B before use, %d B after %d operations", fresh/n, used/n, workers*pieces)
		if fresh > n*heapFresh || used > n*most {
			t.Errorf("want at most %d B and %d B", heapFresh, most)
		}
	})
}

// callers make three callers work a hundred times each, with latencies over three decades.
func callers(t *testing.T, all *sync.WaitGroup, seed uint64, do func(work func(context.Context) error) error) {
	for caller := range uint64(workers) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, caller))
			for range pieces {
				latency := 30 * math.Exp(1.2*r.NormFloat64()) // lognormal, in milliseconds
				if err := do(func(context.Context) error {
					time.Sleep(time.Duration(min(max(latency, 1), 1000) * float64(time.Millisecond)))
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

const workers, pieces = 3, 100

// use makes callers work on two slots, which change owner eight times.
func use(t *testing.T, all *sync.WaitGroup, l *weir.Limiter, c law.Law, seed uint64) {
	callers(t, all, seed, func(work func(context.Context) error) error { return l.Do(context.Background(), work) })
	all.Go(func() {
		for i := range 8 {
			time.Sleep(250 * time.Millisecond)
			limit := 1 + i%2
			if err := l.Update(weir.Config{
				Min: limit, Max: limit, Law: c, Queue: weir.Queue{Size: 5, Timeout: time.Minute},
			}); err != nil {
				t.Error(err)
			}
		}
	})
}
