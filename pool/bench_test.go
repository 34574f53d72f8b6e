package pool_test

import (
	"context"
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

var tasks = flag.Int("tasks", 100_000, "how many empty tasks BenchmarkEmptyTasks runs")

// BenchmarkEmptyTasks runs tasks that do nothing, and prints the rate and the heap at its highest
// for each task. bench/pools compares it with errgroup.
//
//	go test ./pool -run '^$' -bench EmptyTasks -benchtime 1x -tasks 1000000
func BenchmarkEmptyTasks(b *testing.B) {
	for b.Loop() {
		c := must.Have(capacity.New(capacity.Vector{"slots": 64}))(b)
		nothing := func(context.Context) (any, error) { return nil, nil }
		p := must.Have(pool.New(pool.Config{Capacity: c, Source: pool.Seq(func(yield func(pool.Task) bool) {
			for range *tasks {
				if !yield(pool.Task{Run: nothing}) {
					return
				}
			}
		})}))(b)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began, done := time.Now(), 0
		for ev, err := range p.Run(b.Context()) {
			if err != nil || ev.Kind != pool.Done {
				b.Fatal(ev, err)
			}
			if done++; done == *tasks/2 {
				runtime.ReadMemStats(&after)
			}
		}
		took := time.Since(began)
		b.ReportMetric(float64(done)/took.Seconds(), "tasks/s")
		b.ReportMetric(float64(after.HeapInuse+after.StackInuse-before.HeapInuse-before.StackInuse)/float64(*tasks), "B/task")
		b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(*tasks/2), "allocs/task")
	}
}
