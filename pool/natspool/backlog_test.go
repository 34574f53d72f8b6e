package natspool_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool/natspool"
)

// BenchmarkBacklog opens a folder with jobs that wait, and runs them all. It prints the time until
// the first is done, and the heap in use, server included, as a tenth and nine tenths of them are.
//
//	scripts/all go test ./pool/natspool -run '^$' -bench Backlog -benchtime 1x -jobs 1000000
func BenchmarkBacklog(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		l := local(b, dir)
		queue(b, l, natspool.Config{Stream: "bench"})
		fill(b, l, *jobs)
		must.Do(b, l.Close())
		began := time.Now()
		q := queue(b, local(b, dir), natspool.Config{Stream: "bench"})
		var start time.Duration
		var heaps []float64
		drain(b, q, func(done int) {
			if done == 1 {
				start = time.Since(began)
			}
			if done%max(*jobs/10, 1) == 0 {
				heaps = append(heaps, heap())
			}
		})
		b.ReportMetric(start.Seconds(), "s-to-first")
		b.ReportMetric(heaps[0], "MiB-at-first-tenth")
		b.ReportMetric(heaps[len(heaps)-2], "MiB-at-ninth-tenth")
		b.ReportMetric(float64(*jobs)/(time.Since(began)-start).Seconds(), "jobs/s")
	}
}

// heap is the memory in use after a collection, in MiB.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
}
