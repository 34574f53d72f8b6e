package peers

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"golang.org/x/sync/semaphore"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

const (
	crowd     = 1000 // goroutines
	handSlots = 10
	handTurn  = 50_000 // passes of the whole crowd in one turn
)

// A queue is a limiter with a queue. enter passes ctx to limiters that take one.
type queue struct {
	name string
	open func() (enter func(context.Context) (leave func()))
}

var queues = []queue{
	{"weir", func() func(context.Context) func() {
		lim := weir.Must(weir.New(weir.Config{
			Max: handSlots, Initial: handSlots, Law: law.Fixed{},
			Queue: weir.Queue{Size: crowd, Timeout: time.Minute},
		}))
		return func(ctx context.Context) func() {
			permit := must(lim.Acquire(ctx))
			return func() { permit.Done(nil) }
		}
	}},
	{"x-sync", func() func(context.Context) func() {
		s := semaphore.NewWeighted(handSlots)
		return func(ctx context.Context) func() {
			must(0, s.Acquire(ctx, 1))
			return func() { s.Release(1) }
		}
	}},
	{"failsafe-bulkhead", func() func(context.Context) func() {
		b := bulkhead.New[any](handSlots)
		return func(ctx context.Context) func() {
			must(0, b.AcquirePermit(ctx))
			return b.ReleasePermit
		}
	}},
	{"failsafe-adaptive", func() func(context.Context) func() {
		l := adaptivelimiter.NewBuilder[any]().WithLimits(handSlots, handSlots, handSlots).Build()
		return func(ctx context.Context) func() { return must(l.AcquirePermit(ctx)).Record }
	}},
}

func throughChannel() func(context.Context) func() {
	slots := make(chan struct{}, handSlots)
	leave := func() { <-slots }
	return func(ctx context.Context) func() {
		select {
		case slots <- struct{}{}:
			return leave
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
		return leave
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkHandoff passes slots among a thousand goroutines, each of which yields once while
// it holds one, and compares the result with a buffered channel used with the same care: a
// cancellable context, a timer for each wait, and a try without either first.
//
//	go test -run '^$' -bench Handoff -benchtime 20x -cpu 1,2 -count 5
func BenchmarkHandoff(b *testing.B) {
	for _, q := range queues {
		b.Run(q.name, func(b *testing.B) {
			channel, other := &side{enter: throughChannel()}, &side{enter: q.open()}
			for turn := 0; b.Loop(); turn++ {
				if turn%2 == 0 {
					channel.run(b.Context())
					other.run(b.Context())
				} else {
					other.run(b.Context())
					channel.run(b.Context())
				}
			}
			b.ReportMetric(other.rate(), "passes/s")
			b.ReportMetric(other.rate()/channel.rate(), "rate/channel")
			b.ReportMetric(other.p99()/1e6, "p99-ms")
			b.ReportMetric(other.p99()/channel.p99(), "p99/channel")
			b.ReportMetric(float64(other.least), "least-served")
			b.ReportMetric(float64(other.most), "most-served")
			b.ReportMetric(0, "ns/op") // the time of a turn of both has no meaning
		})
	}
}

// A side is one of the two limiters compared.
type side struct {
	enter       func(context.Context) func()
	took        time.Duration
	waits       []time.Duration
	least, most int // passes of the goroutine served least, or most, in a turn
}

// run makes the goroutines of the crowd pass handTurn times in total.
func (s *side) run(ctx context.Context) {
	var left atomic.Int64
	left.Store(handTurn)
	waits := make([][]time.Duration, crowd)
	ready := make(chan struct{})
	var done sync.WaitGroup
	for i := range waits {
		waits[i] = make([]time.Duration, 0, 4*handTurn/crowd)
		ctx, cancel := context.WithCancel(ctx)
		done.Go(func() {
			defer cancel()
			<-ready
			for left.Add(-1) >= 0 {
				asked := time.Now()
				leave := s.enter(ctx)
				waits[i] = append(waits[i], time.Since(asked))
				runtime.Gosched()
				leave()
			}
		})
	}
	began := time.Now()
	close(ready)
	done.Wait()
	s.took += time.Since(began)
	if s.waits == nil {
		s.least = handTurn
	}
	for _, w := range waits {
		s.waits = append(s.waits, w...)
		s.least, s.most = min(s.least, len(w)), max(s.most, len(w))
	}
}

func (s *side) rate() float64 { return float64(len(s.waits)) / s.took.Seconds() }

func (s *side) p99() float64 {
	slices.Sort(s.waits)
	return float64(s.waits[len(s.waits)*99/100])
}
