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

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// governed is a governor of a process that a test makes up.
func governed(t *testing.T, c Config) (*Governor, *made) {
	t.Helper()
	m := &made{limit: math.MaxInt64}
	return newGovernor(must.Have(c.complete())(t), process{m.read, m.resident, m.setLimit, m.collect, m.pageOut}), m
}

type made struct {
	mu       sync.Mutex
	reading  reading
	limit    int64
	collects int
	paged    []string
	pagings  int
	slow     time.Duration // to take pages back, and to collect
	vain     bool          // no pages are taken back
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
	time.Sleep(m.slow)
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
	if m.vain {
		return 0
	}
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
	g := must.Have(New(Config{Target: 1 << 30}))(t)
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
		if err := g.Run(t.Context()); !errors.Is(err, ErrRunning) {
			t.Errorf("a second Run: %v", err)
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

// A collection may take longer than the time to the next: on a busy machine they would pile up.
func TestOneCollectionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := governed(t, Config{Target: 100_000_000})
		m.slow = 3 * time.Second
		m.set(reading{live: 162_000_000})
		go func() { _ = g.Run(t.Context()) }()
		time.Sleep(12500 * time.Millisecond)
		g.Close()
		if collects, _ := m.acted(); collects < 3 || collects > 4 {
			t.Errorf("%d collections of 3 s ended in 12.5 s", collects)
		}
		time.Sleep(m.slow)
	})
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
		hold := must.Have(g.Acquire(t.Context(), 200_000))(t)
		m.set(reading{live: 162_000_000, resident: 99_000_000})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- g.Run(ctx) }()
		time.Sleep(5 * time.Second)
		if len(heard) > 0 {
			t.Errorf("heard %q of memory that may be that of the work in flight", heard)
		}
		hold.Release()
		time.Sleep(7 * time.Second)
		synctest.Wait()
		if want := []string{"memory: target of 100 MB below what the store needs: 200 MB"}; !slices.Equal(heard, want) {
			t.Errorf("heard %q, want %q", heard, want)
		}
		if s := g.Snapshot(); !s.TooSmall || s.Budget != leastBudget || s.Load() < 1 || s.PagedOut == 0 {
			t.Errorf("%+v", s)
		}
		if collects, paged := m.acted(); collects < 10 || collects > 12 || m.limit != 170_526_315 || len(paged) != 1 {
			t.Errorf("%d collections in 12 s, limit %d, took back %v", collects, m.limit, paged)
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
		go func() { ended <- g.Run(t.Context()) }()
		time.Sleep(time.Second)
		g.Close()
		if err := <-ended; errors.Is(err, ErrRunning) {
			t.Errorf("Run after Run: %v", err)
		}
	})
}

func TestSettingsOutOfRange(t *testing.T) {
	for field, c := range map[string]Config{
		"Target":    {Target: 256}, // that was meant as MiB
		"Mapped[0]": {Mapped: []string{"data/*.sst"}},
		"Mapped[1]": {Mapped: []string{"/data/*.sst", "/data/[.sst"}},
	} {
		if _, err := New(c); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%+v: %v, want an error about %s", c, err, field)
		}
	}
}

func TestZeroConfigHasATarget(t *testing.T) {
	c, err := Config{}.complete()
	if err != nil || c.Target < leastTarget {
		t.Errorf("%+v, %v", c, err)
	}
}

// A group is the source of the memory of control groups.
type group struct {
	limits []float64 // of this one, and those around it
	err    error
}

func (group) Name() string { return "group" }

func (g group) Poll(context.Context) (s load.Sample, err error) {
	for _, limit := range g.limits {
		s.Readings = append(s.Readings, load.Reading{Limit: limit})
	}
	return s, g.err
}

func TestDefaultTarget(t *testing.T) {
	for _, test := range []struct {
		group group
		want  uint64
	}{
		{group{limits: []float64{1 << 30}}, 858993459},
		{group{limits: []float64{1 << 31, 1 << 30, 1 << 32}}, 858993459},
		{group{err: load.ErrUnavailable}, 1_500_000_000},
		{group{limits: []float64{1000}}, leastTarget},
	} {
		if got := groupTarget(test.group); got != test.want {
			t.Errorf("%+v: %d, want %d", test.group, got, test.want)
		}
	}
}
