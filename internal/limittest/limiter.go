package limittest

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// Fixed returns a limiter with a constant limit.
func Fixed(t testing.TB, limit int, queue weir.Queue) *weir.Limiter {
	t.Helper()
	return must.Have(weir.New(weir.Config{Name: "secret", Min: limit, Max: limit, Queue: queue}))(t)
}

// Take takes n permits, which must be free.
func Take(t testing.TB, n int, acquire func() (weir.Permit, error)) []weir.Permit {
	t.Helper()
	permits := make([]weir.Permit, n)
	for i := range permits {
		permit, err := acquire()
		if err != nil {
			t.Fatalf("permit %d of %d: %v", i+1, n, err)
		}
		permits[i] = permit
	}
	return permits
}

// Fill takes all slots of the limiter. The returned function releases them.
func Fill(t testing.TB, lim *weir.Limiter) (empty func()) {
	t.Helper()
	permits := Take(t, lim.Snapshot().Limit, func() (weir.Permit, error) { return lim.Acquire(t.Context()) })
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

// NewSet returns a set of limiters.
func NewSet(t testing.TB, c bulkhead.Config) *bulkhead.Set {
	t.Helper()
	return must.Have(bulkhead.New(c))(t)
}

// Key returns the settings of a key whose limit stays. Without a queue the timeout is ignored.
func Key(slots, queue int, timeout time.Duration) bulkhead.Compartment {
	c := weir.Config{Initial: slots, Law: law.Fixed{}, Queue: weir.Queue{Size: queue}}
	if queue > 0 {
		c.Queue.Timeout = timeout
	}
	return bulkhead.Compartment{Config: c}
}

// Hold takes n permits of a key, which must be free.
func Hold(t testing.TB, s *bulkhead.Set, key string, n int) []weir.Permit {
	t.Helper()
	return Take(t, n, func() (weir.Permit, error) { return s.TryAcquire(t.Context(), key) })
}

// CancelCalls makes calls from 32 callers that leave at every stage: before they are sent, in the
// queue, at work. It fails the test if slots, waiters or goroutines are left. The function idle
// closes the connections that no call uses.
func CancelCalls(t testing.TB, calls int, call func(ctx context.Context, i int), idle func(), limiters ...*weir.Limiter) {
	t.Helper()
	before := runtime.NumGoroutine()
	const callers = 32
	var work sync.WaitGroup
	for caller := range callers {
		work.Go(func() {
			for i := caller; i < calls; i += callers {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%8)*50*time.Microsecond)
				call(ctx, i)
				cancel()
			}
		})
	}
	work.Wait()
	for _, lim := range limiters {
		Idle(t, lim)
		if s := lim.Snapshot(); s.Queued != 0 || s.InFlight != 0 {
			t.Errorf("queued %d, in flight %d", s.Queued, s.InFlight)
		}
	}
	idle()
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before+8; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// Panics fails the test for each mistake of a caller that does not panic.
func Panics(t testing.TB, mistakes map[string]func()) {
	t.Helper()
	for name, mistake := range mistakes {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			mistake()
		}()
	}
}
