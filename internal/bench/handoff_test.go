package bench

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

const (
	crowd     = 1000 // goroutines
	handSlots = 10
	handTurn  = 50_000 // passes of the whole crowd in one turn
)

// BenchmarkHandoff passes slots on among a thousand goroutines, and compares with a buffered
// channel used with the same care: a cancellable context, a timer for each wait, and a try
// without either first. Each goroutine with a slot yields once. An op is a turn of each side,
// and the sides take turns in going first.
//
//	go test -run '^$' -bench Handoff -benchtime 20x -count 5 ./internal/bench
func BenchmarkHandoff(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	ours, theirs := &handSide{pass: throughLimiter(b)}, &handSide{pass: throughChannel()}
	for turn := 0; b.Loop(); turn++ {
		if turn%2 == 0 {
			ours.run(b)
			theirs.run(b)
		} else {
			theirs.run(b)
			ours.run(b)
		}
	}
	b.ReportMetric(ours.rate(), "passes/s")
	b.ReportMetric(ours.rate()/theirs.rate(), "rate/channel")
	b.ReportMetric(ours.wait(0.50)/theirs.wait(0.50), "p50/channel")
	b.ReportMetric(ours.wait(0.99)/theirs.wait(0.99), "p99/channel")
	b.ReportMetric(float64(ours.least), "least-served")
	b.ReportMetric(float64(ours.most), "most-served")
	b.ReportMetric(0, "ns/op") // covers a turn of both: says nothing
}

// A handSide is one of the two sides of the comparison.
type handSide struct {
	pass        func(context.Context) time.Duration // returns the wait
	took        time.Duration
	waits       []time.Duration
	least, most int // passes of the goroutine served least, or most, in a turn
}

// run makes the crowd pass handTurn times in total.
func (s *handSide) run(b *testing.B) {
	var left atomic.Int64
	left.Store(handTurn)
	waits := make([][]time.Duration, crowd)
	ready := make(chan struct{})
	var done sync.WaitGroup
	for i := range waits {
		waits[i] = make([]time.Duration, 0, 4*handTurn/crowd)
		ctx, cancel := context.WithCancel(b.Context())
		done.Go(func() {
			defer cancel()
			<-ready
			for left.Add(-1) >= 0 {
				waits[i] = append(waits[i], s.pass(ctx))
			}
		})
	}
	began := time.Now()
	close(ready)
	done.Wait()
	s.took += time.Since(began)

	for _, w := range waits {
		if s.waits = append(s.waits, w...); s.least == 0 || len(w) < s.least {
			s.least = len(w)
		}
		s.most = max(s.most, len(w))
	}
	if s.least == 0 {
		b.Fatal("a goroutine was never served")
	}
}

func (s *handSide) rate() float64 { return float64(len(s.waits)) / s.took.Seconds() }

func (s *handSide) wait(q float64) float64 {
	slices.Sort(s.waits)
	return float64(s.waits[int(q*float64(len(s.waits)-1))])
}

func throughLimiter(b *testing.B) func(context.Context) time.Duration {
	lim := weir.Must(weir.New(weir.Config{
		Max: handSlots, Initial: handSlots, Law: law.Fixed{},
		Queue: weir.Queue{Size: crowd, Timeout: time.Minute},
	}))
	return func(ctx context.Context) time.Duration {
		asked := time.Now()
		permit, err := lim.Acquire(ctx)
		wait := time.Since(asked)
		if err != nil {
			b.Error(err)
		}
		runtime.Gosched()
		permit.Done(nil)
		return wait
	}
}

func throughChannel() func(context.Context) time.Duration {
	slots := make(chan struct{}, handSlots)
	enter := func(ctx context.Context) {
		select {
		case slots <- struct{}{}:
			return
		default:
		}
		timer := time.NewTimer(time.Minute)
		defer timer.Stop()
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			panic("cancelled")
		case <-timer.C:
			panic("timed out")
		}
	}
	return func(ctx context.Context) time.Duration {
		asked := time.Now()
		enter(ctx)
		wait := time.Since(asked)
		runtime.Gosched()
		<-slots
		return wait
	}
}
