package pools

import (
	"context"
	"flag"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc"
	concpool "github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/pool"
)

var tasks = flag.Int("tasks", 1_000_000, "how many empty tasks each way runs")

const limit = 64

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func nothing(context.Context) (any, error) { return nil, nil }

// ways run n empty tasks, at most limit at once, and call half in the middle.
var ways = []struct {
	name string
	run  func(n int, half func())
}{
	{"errgroup", func(n int, half func()) {
		var g errgroup.Group
		g.SetLimit(limit)
		for i := range n {
			if i == n/2 {
				half()
			}
			g.Go(func() error { return nil })
		}
		_ = g.Wait()
	}},
	{"weir, slice", func(n int, half func()) {
		all := make([]pool.Task, n)
		for i := range all {
			all[i].Run = nothing
		}
		drive(n, half, pool.Slice(all))
	}},
	{"weir, sequence", func(n int, half func()) {
		drive(n, half, pool.Seq(func(yield func(pool.Task) bool) {
			for range n {
				if !yield(pool.Task{Run: nothing}) {
					return
				}
			}
		}))
	}},
	{"conc", func(n int, half func()) {
		p := concpool.New().WithMaxGoroutines(limit)
		for i := range n {
			if i == n/2 {
				half()
			}
			p.Go(func() {})
		}
		p.Wait()
	}},
	{"ants", func(n int, half func()) {
		var w conc.WaitGroup
		p := must(ants.NewPool(limit))
		defer p.Release()
		done := make(chan struct{}, limit)
		w.Go(func() {
			for range n {
				<-done
			}
		})
		for i := range n {
			if i == n/2 {
				half()
			}
			_ = p.Submit(func() { done <- struct{}{} })
		}
		w.Wait()
	}},
	{"pond", func(n int, half func()) {
		p := pond.NewPool(limit)
		for i := range n {
			if i == n/2 {
				half()
			}
			p.Submit(func() {})
		}
		p.StopAndWait()
	}},
	{"goroutine each", func(n int, half func()) { // every goroutine waits for a slot: the memory to beat
		slots, all := make(chan struct{}, limit), conc.WaitGroup{}
		hold := make(chan struct{})
		for range n {
			all.Go(func() { <-hold; slots <- struct{}{}; <-slots })
		}
		half()
		close(hold)
		all.Wait()
	}},
}

func drive(n int, half func(), source pool.Source) {
	c := must(capacity.New(capacity.Vector{"slots": limit}))
	p := must(pool.New(pool.Config{Capacity: c, Source: source, Lookahead: 16 * limit}))
	done := 0
	for _, err := range p.Run(context.Background()) {
		if err != nil {
			panic(err)
		}
		if done++; done == n/2 {
			half()
		}
	}
}

// BenchmarkEmptyTasks prints each rate as a share of errgroup's, measured in turn with it,
// and the memory in the middle for each task. On one processor the rate by CPU time equals
// the rate on an idle machine.
//
//	go test . -run '^$' -bench EmptyTasks -benchtime 5x -cpu 1
func BenchmarkEmptyTasks(b *testing.B) {
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			floor, best := slowest, slowest
			for b.Loop() {
				floor = floor.best(measure(ways[0].run))
				best = best.best(measure(way.run))
			}
			b.ReportMetric(floor.wall.Seconds()/best.wall.Seconds(), "x/errgroup")
			b.ReportMetric(floor.cpu.Seconds()/best.cpu.Seconds(), "x/errgroup-cpu")
			b.ReportMetric(float64(*tasks)/best.cpu.Seconds(), "tasks/cpu-s")
			b.ReportMetric(best.memory/float64(*tasks), "B/task")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A cost holds the time and memory of a run.
type cost struct {
	wall, cpu time.Duration
	memory    float64 // bytes, in the middle
}

var slowest = cost{math.MaxInt64, math.MaxInt64, math.MaxFloat64}

func (c cost) best(d cost) cost {
	return cost{min(c.wall, d.wall), min(c.cpu, d.cpu), min(c.memory, d.memory)}
}

func measure(run func(int, func())) cost {
	runtime.GC()
	var before, middle runtime.MemStats
	runtime.ReadMemStats(&before)
	began, spent := time.Now(), cpu()
	run(*tasks, func() { runtime.ReadMemStats(&middle) })
	used := int64(middle.HeapInuse+middle.StackInuse) - int64(before.HeapInuse+before.StackInuse)
	return cost{time.Since(began), cpu() - spent, float64(max(0, used))}
}

// cpu returns the CPU time of this process.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
