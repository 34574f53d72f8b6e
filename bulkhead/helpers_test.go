package bulkhead_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

func newSet(t testing.TB, c bulkhead.Config) *bulkhead.Set {
	t.Helper()
	s, err := bulkhead.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixed are the settings of a compartment whose limit stays. Without a queue the timeout is not
// looked at.
func fixed(slots, queue int, timeout time.Duration) bulkhead.Compartment {
	c := weir.Config{Initial: slots, Law: law.Fixed{}, Queue: weir.Queue{Size: queue}}
	if queue > 0 {
		c.Queue.Timeout = timeout
	}
	return bulkhead.Compartment{Config: c}
}

// hold takes so many permits of a key, which must be free.
func hold(t testing.TB, s *bulkhead.Set, key string, n int) []weir.Permit {
	t.Helper()
	permits := make([]weir.Permit, n)
	for i := range permits {
		permit, ok := s.TryAcquire(t.Context(), key)
		if !ok {
			t.Fatalf("permit %d of %d for %q was refused: %+v", i+1, n, key, s.Snapshot().ByKey[key])
		}
		permits[i] = permit
	}
	return permits
}

// An answer is the result of a goroutine's request for a permit.
type answer struct {
	permit weir.Permit
	err    error
}

// ask asks on a goroutine of its own and returns once that one waits or has its answer.
func ask(ctx context.Context, s *bulkhead.Set, key string) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		permit, err := s.Acquire(ctx, key)
		c <- answer{permit, err}
	}()
	synctest.Wait()
	return c
}

// admitted returns the permit of one that was asked for, which must be there.
func admitted(t testing.TB, c <-chan answer) weir.Permit {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-c:
		if a.err != nil {
			t.Fatal(a.err)
		}
		return a.permit
	default:
		t.Fatal("no answer yet")
		panic("unreachable")
	}
}

// refused returns the error of one that was asked for.
func refused(t testing.TB, c <-chan answer) error {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-c:
		if a.err == nil {
			t.Fatal("was admitted")
		}
		return a.err
	default:
		t.Fatal("no answer yet")
		panic("unreachable")
	}
}

func waits(t testing.TB, c <-chan answer) {
	t.Helper()
	synctest.Wait()
	if len(c) > 0 {
		t.Fatalf("does not wait: got %+v", <-c)
	}
}

// balanced fails the test unless all that was admitted is back and no waiter is left.
func balanced(t testing.TB, s *bulkhead.Set) {
	t.Helper()
	if all := s.Snapshot().Total; all.InFlight != 0 || all.Queued != 0 || all.Admitted != all.Completed {
		t.Errorf("%d in flight, %d queued, %d admitted, %d completed: want all back",
			all.InFlight, all.Queued, all.Admitted, all.Completed)
	}
}

// work is a function for Do that takes so long.
func work(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// journal keeps events.
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
