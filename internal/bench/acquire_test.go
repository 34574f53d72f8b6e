package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/throttle"
)

// The floor is the least work of any code that caps concurrency and measures latency: a
// compare-and-swap up, one down, and two readings of a monotonic clock.
type floor struct{ inflight atomic.Int64 }

var start = time.Now()

func (f *floor) pass() {
	f.add(1)
	began := time.Since(start)
	sink.Store(int64(time.Since(start) - began))
	f.add(-1)
}

func (f *floor) add(delta int64) {
	for {
		n := f.inflight.Load()
		if f.inflight.CompareAndSwap(n, n+delta) {
			return
		}
	}
}

var sink atomic.Int64

// BenchmarkAcquire prints each way into the limiter as a multiple of the floor,
// measured in turn with it: alone, on every processor, and with 64 goroutines.
//
//	go test -run '^$' -bench Acquire -cpu 1,2 -count 5 ./internal/bench
func BenchmarkAcquire(b *testing.B) {
	ctx := context.Background()
	open := func() *weir.Limiter { return weir.Must(weir.New(weir.Config{Min: 1000})) }
	work := func(context.Context) error { return nil }

	full := weir.Must(weir.New(weir.Config{Max: 1}))
	if _, err := full.TryAcquire(context.Background()); err != nil {
		b.Fatal("the first permit was refused")
	}
	lim, doer := open(), open()
	fair := weir.Must(weir.New(weir.Config{Min: 1000, Queue: weir.Queue{Size: 1, Tenants: 64}}))
	ofTenant := weir.WithTenant(ctx, "acme")
	for _, way := range []struct {
		name string
		pass func()
	}{
		{"TryAcquire+Done", func() {
			if permit, err := lim.TryAcquire(context.Background()); err == nil {
				permit.Done(nil)
			}
		}},
		{"Acquire+Done", func() {
			if permit, err := lim.Acquire(ctx); err == nil {
				permit.Done(nil)
			}
		}},
		{"Acquire+Done of a tenant", func() {
			if permit, err := fair.Acquire(ofTenant); err == nil {
				permit.Done(nil)
			}
		}},
		{"Do", func() {
			if err := doer.Do(ctx, work); err != nil {
				panic(err)
			}
		}},
		{"Full", func() {
			if err := lim.Full(ctx); err != nil {
				panic(err)
			}
		}},
		{"refused", func() {
			if _, err := full.Acquire(ctx); !errors.Is(err, weir.ErrRefused) {
				panic(err)
			}
		}},
	} {
		for _, goroutines := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", way.name, goroutines), func(b *testing.B) {
				againstFloor(b, goroutines, way.pass)
			})
		}
	}
}

// BenchmarkCap prints the cost of Acquire and Done with a cap below the limit, as a member of a
// fleet has it. It is a multiple of the cost without a cap, and the two are measured in turn.
//
//	go test -run '^$' -bench Cap -cpu 1,2 -count 5 ./internal/bench
func BenchmarkCap(b *testing.B) {
	free, capped := weir.Must(weir.New(weir.Config{Min: 1000})), weir.Must(weir.New(weir.Config{Min: 1000}))
	must.Do(b, capped.SetCap(500))
	pass := func(lim *weir.Limiter) func() {
		return func() {
			if permit, err := lim.Acquire(b.Context()); err == nil {
				permit.Done(nil)
			}
		}
	}
	for _, goroutines := range []int{1, 64} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			against(b, goroutines, pass(capped), "free", pass(free))
		})
	}
}

// BenchmarkThrottle prints an operation that nothing throttles as a multiple of the floor.
//
//	go test -run '^$' -bench Throttle -cpu 1,2 -count 5 ./internal/bench
func BenchmarkThrottle(b *testing.B) {
	ctx := context.Background()
	guarded := func(th *throttle.Throttle) func() {
		return func() {
			op, err := th.Acquire(ctx, throttle.Write, 1)
			defer op.DoneWith(&err)
		}
	}
	th := must.Have(throttle.New(throttle.Config{}))(b)
	for _, way := range []struct {
		name string
		pass func()
	}{
		{"Done", func() { op, err := th.Acquire(ctx, throttle.Write, 1); op.Done(err) }},
		{"DoneWith", guarded(th)},
		{"off", guarded(must.Have(throttle.New(throttle.Config{Off: true}))(b))},
	} {
		for _, goroutines := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", way.name, goroutines), func(b *testing.B) {
				againstFloor(b, goroutines, way.pass)
			})
		}
	}
}

// againstFloor reports pass as a multiple of the floor.
func againstFloor(b *testing.B, goroutines int, pass func()) {
	f := &floor{}
	against(b, goroutines, pass, "floor", f.pass)
}

// against times pass and a measure in turns, so that both meet the same machine, and
// reports their ratio.
func against(b *testing.B, goroutines int, pass func(), name string, measure func()) {
	b.ReportAllocs()
	const turns = 20
	var ours, theirs time.Duration
	for turn := range turns {
		n := b.N/turns + min(1, b.N%turns)
		if turn%2 == 0 {
			theirs += timed(goroutines, n, each(measure))
			ours += timed(goroutines, n, each(pass))
		} else {
			ours += timed(goroutines, n, each(pass))
			theirs += timed(goroutines, n, each(measure))
		}
	}
	b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N), name+"-ns")
	b.ReportMetric(float64(ours)/float64(theirs), "x/"+name)
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/op")
}

// timed runs pass n times, spread over the goroutines, each of which counts from another number.
func timed(goroutines, n int, pass func(i int)) time.Duration {
	var done sync.WaitGroup
	began := time.Now()
	for g := range goroutines {
		done.Go(func() {
			for i := range n / goroutines {
				pass(g*61 + i)
			}
		})
	}
	done.Wait()
	return time.Since(began)
}

// each returns pass for timed.
func each(pass func()) func(int) { return func(int) { pass() } }

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
