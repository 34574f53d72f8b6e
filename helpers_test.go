package weir_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
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

// band decides once an interval, even from a single sample.
var band = law.Band{Target: 100 * time.Millisecond}

// fixed returns a limiter whose limit stays.
func fixed(t testing.TB, limit int, q weir.Queue) *weir.Limiter {
	t.Helper()
	return newLimiter(t, weir.Config{Initial: limit, Max: max(1000, limit), Law: law.Fixed{}, Queue: q})
}

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
	if s := l.Snapshot(); s.InFlight != 0 || s.Queued != 0 || s.Admitted != s.Completed {
		t.Errorf("%d in flight, %d queued, %d admitted, %d completed: want all back",
			s.InFlight, s.Queued, s.Admitted, s.Completed)
	}
}

// journal records events.
type journal struct {
	mu     sync.Mutex
	events []weir.Event
}

func (j *journal) note(e weir.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

func (j *journal) of(kind weir.Kind) (found []weir.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// gapless fails the test unless the numbers of the events run from 1 to their count.
func (j *journal) gapless(t testing.TB) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	seen := map[uint64]int{}
	for _, e := range j.events {
		seen[e.Seq]++
	}
	for i := range j.events {
		if n := seen[uint64(i)+1]; n != 1 {
			t.Fatalf("%d events have the number %d of %d: want one", n, i+1, len(j.events))
		}
	}
}

// A script is a law made of a function. It cannot be compared, nor retuned.
type script func(law.Window) law.Decision

func (s script) Controller(law.Bounds) (law.Controller, error) { return s, nil }
func (s script) Next(w law.Window) law.Decision                { return s(w) }

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
