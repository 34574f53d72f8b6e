package limittest

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/deadline"
)

// Fixed returns a limiter with a constant limit.
func Fixed(t testing.TB, limit int, queue weir.Queue) *weir.Limiter {
	t.Helper()
	lim, err := weir.New(weir.Config{Name: "secret", Min: limit, Max: limit, Queue: queue})
	if err != nil {
		t.Fatal(err)
	}
	return lim
}

// Fill takes all slots of the limiter. The returned function releases them.
func Fill(t testing.TB, lim *weir.Limiter) (empty func()) {
	t.Helper()
	var permits []weir.Permit
	for range lim.Snapshot().Limit {
		permit, err := lim.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		permits = append(permits, permit)
	}
	return func() {
		for _, permit := range permits {
			permit.Release()
		}
	}
}

// Taught holds the outcomes that a limiter recorded.
type Taught struct{ Succeeded, Failed, TimedOut, Ignored, Overloaded, Late uint64 }

// Check fails the test if the recorded outcomes differ from want or work is still in flight.
func Check(t testing.TB, lim *weir.Limiter, want Taught) {
	t.Helper()
	s := lim.Snapshot()
	got := Taught{s.Succeeded, s.Failed, s.TimedOut, s.Ignored, s.Overloaded, s.Late}
	if got != want {
		t.Errorf("taught %+v, want %+v", got, want)
	}
	if s.InFlight != 0 {
		t.Errorf("in flight %d, want 0", s.InFlight)
	}
}

// Balanced fails the test unless all admitted work is back and no waiter is left.
func Balanced(t testing.TB, s weir.Snapshot) {
	t.Helper()
	if s.InFlight != 0 || s.Queued != 0 || s.Admitted != s.Completed {
		t.Errorf("%d in flight, %d queued, %d admitted, %d completed: want all back",
			s.InFlight, s.Queued, s.Admitted, s.Completed)
	}
}

// Heap returns the bytes of heap in use.
func Heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Idle waits until nothing is in flight: a server keeps running a call after its client has
// left.
func Idle(t testing.TB, lim *weir.Limiter) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := lim.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// Dated is a limiter that notes of each piece of work whether its deadline counts for the law.
type Dated struct {
	*weir.Limiter
	Counts chan bool
}

// Acquire notes the deadline of ctx.
func (d Dated) Acquire(ctx context.Context) (weir.Permit, error) {
	d.Counts <- deadline.Of(ctx) != 0
	return d.Limiter.Acquire(ctx)
}
