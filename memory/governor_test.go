package memory

import (
	"context"
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// governed is a governor of a process that a test makes up.
func governed(t *testing.T, c Config) (*Governor, *made) {
	t.Helper()
	m := &made{limit: math.MaxInt64}
	c, err := c.complete()
	if err != nil {
		t.Fatal(err)
	}
	return newGovernor(c, process{m.read, m.resident, m.setLimit, m.collect, m.pageOut}), m
}

type made struct {
	mu       sync.Mutex
	reading  reading
	limit    int64
	collects int
	paged    []string
	pagings  int
	slow     time.Duration // to take pages back
}

func (m *made) read() reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reading.at += period
	return m.reading
}

func (m *made) resident() residence {
	m.mu.Lock()
	defer m.mu.Unlock()
	return residence{anonymous: m.reading.anonymous, all: m.reading.resident}
}

func (m *made) set(r reading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.at, r.collected = m.reading.at, m.reading.collected
	m.reading = r
}

func (m *made) collect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collects++
	m.reading.collected++
}

func (m *made) pageOut(patterns []string) uint64 {
	time.Sleep(m.slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paged = patterns
	m.pagings++
	took := m.reading.resident - m.reading.anonymous
	m.reading.resident = m.reading.anonymous
	return took
}

// acted has the acts of the governor so far.
func (m *made) acted() (collects int, paged []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.collects, m.paged
}

func (m *made) setLimit(limit int64) int64 {
	was := m.limit
	if limit >= 0 {
		m.limit = limit
	}
	return was
}

func TestOneGovernorAProcess(t *testing.T) {
	g, err := New(Config{Target: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{}); !errors.Is(err, ErrTaken) {
		t.Errorf("a second: %v", err)
	}
	g.Close()
	g.Close()
	if err := g.Run(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Run after Close: %v", err)
	}
	again, err := New(Config{Target: 1 << 30})
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	defer again.Close()
	g.Close() // that of the first does not free the second
	if _, err := New(Config{}); !errors.Is(err, ErrTaken) {
		t.Errorf("a third: %v", err)
	}
}

func TestMemoryLimitIsGivenBack(t *testing.T) {
	const users = 1 << 30
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(users))
	g, err := New(Config{Target: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ended := make(chan error)
	go func() { ended <- g.Run(t.Context()) }()
	for g.Snapshot().Limit == 0 {
		runtime.Gosched()
	}
	if got := debug.SetMemoryLimit(-1); got != users {
		t.Errorf("limit %d, want the user's, which is lower", got)
	}
	if s := g.Snapshot(); s.Anonymous == 0 || s.Need == 0 || s.Resident < s.Anonymous {
		t.Errorf("of this process: %+v", s)
	}
	if err := g.Run(t.Context()); !errors.Is(err, ErrRunning) {
		t.Errorf("a second Run: %v", err)
	}
	g.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := debug.SetMemoryLimit(-1); got != users {
		t.Errorf("limit %d after Close", got)
	}
}

func TestCloseDoesNotWaitForRunToReturn(t *testing.T) {
	users := debug.SetMemoryLimit(-1)
	for range 100 {
		g, err := New(Config{Target: 4 << 30})
		if err != nil {
			t.Fatalf("after Close: %v", err)
		}
		ended := make(chan error)
		go func() { ended <- g.Run(t.Context()) }()
		for g.Snapshot().Limit == 0 {
			runtime.Gosched()
		}
		g.Close()
		if got := debug.SetMemoryLimit(-1); got != users {
			t.Errorf("limit %d after Close, want the user's, %d", got, users)
		}
		defer func() {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}()
	}
}

func TestLimitIsNeverAboveTheUsers(t *testing.T) {
	m := &made{limit: 700}
	var l limits
	l.begin(m.setLimit)
	for _, step := range []struct{ users, wanted, want int64 }{
		{0, 900, 700}, {0, 500, 500}, {600, 900, 600}, {0, 500, 500}, {0, 650, 600}, {math.MaxInt64, 650, 650},
	} {
		if step.users > 0 {
			m.limit = step.users
		}
		l.move(step.wanted)
		if m.limit != step.want {
			t.Errorf("%+v: limit %d", step, m.limit)
		}
	}
	l.end()
	if m.limit != math.MaxInt64 {
		t.Errorf("limit %d at the end, want what the program set last", m.limit)
	}
}

// Between the last step and Close no step notices the program's own limit.
func TestLimitThatIsSetJustBeforeClose(t *testing.T) {
	g, m := governed(t, Config{Target: 1 << 30})
	g.begin()
	if err := g.step(); err != nil || m.limit == math.MaxInt64 {
		t.Fatalf("limit %d after a step, %v", m.limit, err)
	}
	m.setLimit(600)
	g.Close()
	if m.limit != 600 {
		t.Errorf("limit %d after Close, want the program's, 600", m.limit)
	}
}

func TestTakeWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := governed(t, Config{Target: 64 * mib}) // a budget of 1 MiB
		first, err := g.Take(t.Context(), 900<<10)
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 2)
		var all sync.WaitGroup
		take := func(name string, bytes int) {
			all.Go(func() {
				hold, err := g.Take(t.Context(), bytes)
				if err != nil {
					t.Error(err)
				}
				order <- name
				time.Sleep(time.Second)
				hold.Release()
			})
			synctest.Wait()
		}
		take("large", 100*mib)
		take("small", 1)
		if s := g.Snapshot(); s.Waiting != 2 || s.InFlight != 900<<10 || len(order) != 0 {
			t.Errorf("%+v, admitted %d", s, len(order))
		}
		first.Release()
		first.Release()
		synctest.Wait()
		if s := g.Snapshot(); len(order) != 1 || s.InFlight != 100*mib {
			t.Errorf("%+v: want the one that is larger than the budget, alone", s)
		}
		all.Wait()
		if one, two := <-order, <-order; one != "large" || two != "small" {
			t.Errorf("admitted %s, then %s", one, two)
		}
		if s := g.Snapshot(); s.InFlight != 0 || s.Waited != time.Second {
			t.Errorf("%+v", s)
		}
	})
}

func TestTakeGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := governed(t, Config{Target: 64 * mib})
		hold, _ := g.Take(nil, mib) //nolint:staticcheck // a nil context counts as Background
		why := errors.New("why")
		ctx, stop := context.WithCancelCause(t.Context())
		failed := make(chan error, 2)
		go func() { _, err := g.Take(ctx, mib); failed <- err }()
		synctest.Wait()
		go func() { _, err := g.Take(t.Context(), 1); failed <- err }()
		synctest.Wait()
		stop(why)
		if err := <-failed; !errors.Is(err, why) {
			t.Errorf("%v, want the cause", err)
		}
		if _, err := g.Take(ctx, 1); !errors.Is(err, why) {
			t.Errorf("of a context that has ended: %v", err)
		}
		g.Close()
		if err := <-failed; !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
		if _, err := g.Take(t.Context(), 1); !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
		if _, err := g.Take(t.Context(), -1); !errors.Is(err, ErrConfig) {
			t.Errorf("%v, want ErrConfig", err)
		}
		hold.Release()
		if s := g.Snapshot(); s.InFlight != 0 || s.Waiting != 0 {
			t.Errorf("%+v is left", s)
		}
	})
}

// One that was admitted in the instant in which it gave up gives the bytes back.
func TestWaiterAdmittedWhileItLeaves(t *testing.T) {
	b := budget{size: 10}
	b.try(10)
	w := b.try(5)
	b.give(10)
	b.leave(w)
	if _, inFlight, waiting := b.snapshot(); inFlight != 0 || waiting != 0 {
		t.Errorf("%d in flight, %d waiting", inFlight, waiting)
	}
	b.try(10)
	w, next := b.try(9), b.try(0)
	b.leave(w)
	select {
	case <-next.admitted:
	default:
		t.Error("who stood behind one that left is not admitted")
	}
}

func TestRunSaysThatTheTargetIsTooSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		g, m := governed(t, Config{Target: 100_000_000, Mapped: []string{"/data/*.sst"}, OnEvent: func(e Event) {
			heard = append(heard, e.String())
			if e.Kind == TargetSuffices {
				panic("boom")
			}
		}})
		m.set(reading{live: 162_000_000, resident: 99_000_000})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.Run(ctx) }()
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if want := []string{"memory: target of 100 MB below what the store needs: 200 MB"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
		if s := g.Snapshot(); !s.TooSmall || s.Budget != leastBudget || s.Load() < 1 || s.PagedOut == 0 {
			t.Errorf("%+v", s)
		}
		if collects, paged := m.acted(); collects < 5 || collects > 7 || m.limit != 170_526_315 || len(paged) != 1 {
			t.Errorf("%d collections in 7 s, limit %d, took back %v", collects, m.limit, paged)
		}
		m.set(reading{live: 1000})
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if len(heard) != 2 || heard[1] != "memory: target suffices: 100 MB" {
			t.Errorf("heard %q", heard)
		}
		stop()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "OnEvent panicked: boom") {
			t.Errorf("got %v, want how OnEvent failed", err)
		}
		if m.limit != math.MaxInt64 {
			t.Errorf("limit %d after Run", m.limit)
		}
		g.Close()
	})
}
