package weir_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

func newLimiter(t testing.TB, c weir.Config) *weir.Limiter {
	t.Helper()
	l, err := weir.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// fixed returns a limiter whose limit stays.
func fixed(t testing.TB, limit int, q weir.Queue) *weir.Limiter {
	t.Helper()
	return newLimiter(t, weir.Config{Initial: limit, Max: max(1000, limit), Law: law.Fixed{}, Queue: q})
}

// band decides once an interval, even from a single sample.
var band = law.Band{Target: 100 * time.Millisecond}

// hold takes n permits, which must be free.
func hold(t testing.TB, l *weir.Limiter, n int) []weir.Permit {
	t.Helper()
	permits := make([]weir.Permit, n)
	for i := range permits {
		permit, ok := l.TryAcquire(t.Context())
		if !ok {
			t.Fatalf("permit %d of %d was refused: %v", i+1, n, l)
		}
		permits[i] = permit
	}
	return permits
}

// An answer is the result of a request for a permit, and its time.
type answer struct {
	permit weir.Permit
	err    error
	after  time.Duration
}

// ask asks on a goroutine of its own and returns once that waits or has its answer. It is for
// use in a bubble.
func ask(ctx context.Context, l *weir.Limiter, weight int) <-chan answer {
	c := make(chan answer, 1)
	began := time.Now()
	go func() {
		permit, err := l.AcquireN(ctx, weight)
		c <- answer{permit, err, time.Since(began)}
	}()
	synctest.Wait()
	return c
}

// admitted returns the permit of a request, which must be answered.
func admitted(t testing.TB, c <-chan answer) weir.Permit {
	t.Helper()
	a := now(t, c)
	if a.err != nil {
		t.Fatalf("not admitted: %v", a.err)
	}
	return a.permit
}

// now returns the answer, which must be there.
func now(t testing.TB, c <-chan answer) answer {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-c:
		return a
	default:
		t.Fatal("no answer yet")
		panic("unreachable")
	}
}

// waits fails the test if there is an answer.
func waits(t testing.TB, c <-chan answer) {
	t.Helper()
	synctest.Wait()
	if len(c) > 0 {
		t.Fatalf("does not wait: got %+v", <-c)
	}
}

// load keeps the given number of goroutines at work for the given time, in a bubble. Each
// holds a permit for the result of latency, and asks for the next one at once.
func load(ctx context.Context, l *weir.Limiter, workers int, lasting time.Duration, latency func() time.Duration) {
	until := time.Now().Add(lasting)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for time.Now().Before(until) {
				err := l.Do(ctx, func(context.Context) error {
					time.Sleep(latency())
					return nil
				})
				if err != nil {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	all.Wait()
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// limits reads the limit n times, one interval apart.
func limits(l *weir.Limiter, n int, interval time.Duration) []int {
	read := make([]int, n)
	for i := range read {
		read[i] = l.Snapshot().Limit
		time.Sleep(interval)
	}
	return read
}

// balanced fails the test unless all admitted work is back and no waiter is left.
func balanced(t testing.TB, l *weir.Limiter) {
	t.Helper()
	limittest.Balanced(t, l.Snapshot())
}

// A script is a law made of a function. It cannot be compared, nor retuned.
type script func(law.Window) law.Decision

func (s script) Controller(law.Bounds) (law.Controller, error) { return s, nil }

func (s script) Next(w law.Window) law.Decision { return s(w) }

// watching returns a law that keeps the limit and records its windows, without the empty one
// at the start.
func watching(windows *[]law.Window) law.Law {
	begun := false
	return script(func(w law.Window) law.Decision {
		if begun {
			*windows = append(*windows, w)
		}
		begun = true
		return law.Decision{Limit: float64(w.Limit)}
	})
}

// breaking returns a law that calls do, once, when the first window closes.
func breaking(do func()) law.Law {
	done := false
	return script(func(w law.Window) law.Decision {
		if w.Elapsed > 0 && !done {
			done = true
			do()
		}
		return law.Decision{Limit: float64(w.Limit)}
	})
}

func update(t testing.TB, l *weir.Limiter, c weir.Config) {
	t.Helper()
	if err := l.Update(c); err != nil {
		t.Fatal(err)
	}
}

// slow keeps a limiter busy with work far above its target.
func slow(t *testing.T, l *weir.Limiter, lasting time.Duration) {
	load(t.Context(), l, 4, lasting, always(250*time.Millisecond))
}

func setCap(t testing.TB, l *weir.Limiter, slots int) {
	t.Helper()
	if err := l.SetCap(slots); err != nil {
		t.Fatal(err)
	}
}

// hears is a law that notes the signals it gets.
type hears struct{ saturated, refused, waited bool }

func (h *hears) Controller(law.Bounds) (law.Controller, error) { return h, nil }

func (h *hears) Next(w law.Window) law.Decision {
	h.saturated = h.saturated || w.Saturated > 0
	h.refused = h.refused || w.Refused > 0
	h.waited = h.waited || w.Waited > 0 || w.QueueWait > 0
	return law.Decision{Limit: float64(w.Limit)}
}

// unwind calls f on a goroutine of its own. It returns the value of its panic, and whether f
// returned, which it does not after a panic or runtime.Goexit.
func unwind(f func()) (recovered any, returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { recovered = recover() }()
		f()
		returned = true
	}()
	<-done
	return recovered, returned
}
