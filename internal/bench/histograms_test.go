package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir"
)

// BenchmarkHistograms prints the cost that Config.Histograms adds to Acquire and Done, in
// floors: the median of 400 short turns, or 40 longer ones with 64 goroutines, each of which
// times a limiter with histograms, one without and the floor.
//
//	go test -run '^$' -bench Histograms -cpu 1,2 -count 10 ./internal/bench
func BenchmarkHistograms(b *testing.B) {
	ctx := context.Background()
	acquire := func(c weir.Config) func() {
		c.Min = 1000
		lim := weir.Must(weir.New(c))
		return func() {
			if permit, err := lim.Acquire(ctx); err == nil {
				permit.Done(nil)
			}
		}
	}
	trace := func(context.Context) string { return "4bf92f3577b34da6a3ce929d0e0e4736" }
	without := acquire(weir.Config{})
	for _, with := range []struct {
		name string
		pass func()
	}{
		{"control", acquire(weir.Config{})},
		{"Histograms", acquire(weir.Config{Histograms: true})},
		{"Exemplar", acquire(weir.Config{Histograms: true, Exemplar: trace})},
	} {
		for _, goroutines := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", with.name, goroutines), func(b *testing.B) {
				b.ReportAllocs()
				reportAdded(b, goroutines, with.pass, without)
			})
		}
	}
}

// reportAdded reports how much longer one pass takes than another.
func reportAdded(b *testing.B, goroutines int, with, without func()) {
	turns := 400
	if goroutines > 1 {
		turns = 40
	}
	f := &floor{}
	n := max(goroutines, b.N/turns)
	var added, ns []float64
	for turn := range turns {
		var longer time.Duration
		if turn%2 == 0 {
			longer = timed(goroutines, n, each(with))
			longer -= timed(goroutines, n, each(without))
		} else {
			longer = -timed(goroutines, n, each(without))
			longer += timed(goroutines, n, each(with))
		}
		added = append(added, float64(longer)/float64(timed(goroutines, n, each(f.pass))))
		ns = append(ns, float64(longer.Nanoseconds())/float64(n))
	}
	b.ReportMetric(median(added), "floors-more")
	b.ReportMetric(median(ns), "ns-more")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
