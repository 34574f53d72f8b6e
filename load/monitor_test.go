package load_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// A script is a source with scripted answers.
type script struct {
	name string
	mu   sync.Mutex
	poll func(ctx context.Context) (load.Sample, error)
}

func (s *script) Name() string { return s.name }

func (s *script) Poll(ctx context.Context) (load.Sample, error) {
	s.mu.Lock()
	poll := s.poll
	s.mu.Unlock()
	return poll(ctx)
}

func (s *script) answer(readings ...load.Reading) {
	s.do(func(context.Context) (load.Sample, error) { return load.Sample{Readings: readings}, nil })
}

func (s *script) do(poll func(context.Context) (load.Sample, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poll = poll
}

func reading(name string, value, limit float64) load.Reading {
	return load.Reading{Name: name, Value: value, Limit: limit}
}

// A watch is a monitor that runs until the test ends.
type watch struct {
	*load.Monitor
	mu     sync.Mutex
	events []load.Event
	stop   context.CancelFunc
	ended  chan error
}

func start(t *testing.T, c load.Config) *watch {
	t.Helper()
	w := &watch{ended: make(chan error, 1)}
	c.OnEvent = func(e load.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}
	m := must.Have(load.New(c))(t)
	w.Monitor = m
	ctx, cancel := context.WithCancel(t.Context())
	w.stop = cancel
	go func() { w.ended <- m.Run(ctx) }()
	t.Cleanup(cancel)
	return w
}

func (w *watch) kinds() (kinds []load.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestWorstBottleneck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, memory := &script{name: "store"}, &script{name: "memory"}
		store.answer(
			load.Reading{Name: "tables", Value: 15, Limit: 15, Scope: load.Writes},
			load.Reading{Name: "cache", Value: 0.4, Limit: 1, Scope: load.Reads},
			reading("seen only", 1e9, math.Inf(1)))
		memory.answer(reading("heap", 0.3, 1))
		w := start(t, load.Config{Sources: []load.Source{store, memory}})
		pass(time.Millisecond)
		for scope, want := range map[load.Scope]float64{load.All: 1, load.Writes: 1, load.Reads: 0.4} {
			if l := w.Level(scope); l.Load != want || !l.Valid || l.Degraded || l.Source != "store" {
				t.Errorf("%v: %+v, want %v of the store", scope, l, want)
			}
		}
		if got := w.Level(load.Writes).Worst.String(); got != "tables 15 of 15" {
			t.Error(got)
		}
		if got := reading("seen only", 5, math.Inf(1)).String(); got != "seen only 5" {
			t.Error(got)
		}
	})
}

func TestRunTwiceAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		s.answer(reading("a", 0.5, 1))
		w := start(t, load.Config{Sources: []load.Source{s}})
		pass(time.Millisecond)
		if err := w.Run(t.Context()); !errors.Is(err, load.ErrRunning) {
			t.Errorf("a second Run: %v", err)
		}
		w.stop()
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
		pass(time.Minute)
		if l := w.Level(load.All); l.Valid || !l.Degraded {
			t.Errorf("without polls: %+v, want it to be degraded", l)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { w.ended <- w.Run(ctx) }()
		pass(time.Second)
		if l := w.Level(load.All); !l.Valid || l.Degraded {
			t.Errorf("run again: %+v", l)
		}
		cancel()
		<-w.ended
	})
}

func TestConfigIsChecked(t *testing.T) {
	a := &script{name: "a"}
	with := func(change func(*load.Config)) load.Config {
		c := load.Config{Sources: []load.Source{a}}
		change(&c)
		return c
	}
	for _, c := range []struct {
		conf load.Config
		want string
	}{
		{load.Config{}, "Sources is empty"},
		{load.Config{Sources: []load.Source{nil}}, "Sources[0] is nil"},
		{load.Config{Sources: []load.Source{a, a}}, `Sources[1] is named "a"`},
		{with(func(c *load.Config) { c.Interval = -1 }), "Interval"},
		{with(func(c *load.Config) { c.Timeout = -1 }), "Timeout"},
		{with(func(c *load.Config) { c.MaxAge = -1 }), "MaxAge"},
		{with(func(c *load.Config) { c.MaxAge = time.Millisecond }), "at least the Interval"},
	} {
		if _, err := load.New(c.conf); !errors.Is(err, load.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.conf, err, c.want)
		}
	}
}

// A hostileError runs a function in its methods.
type hostileError func()

func (e hostileError) Error() string { e(); return "hostile" }
func (e hostileError) Is(error) bool { e(); return false }

// fitful is a source that fails in one way on its first polls, and then answers.
type fitful struct {
	polls int
	fail  func() (load.Sample, error)
}

func (*fitful) Name() string { return "fitful" }

func (f *fitful) Poll(context.Context) (load.Sample, error) {
	if f.polls++; f.polls < 30 {
		return f.fail()
	}
	return sample(reading("r", 1, 2)), nil
}

// TestHostileCallbacks: a source, the methods of its errors and a hook may call every method of the
// monitor, may panic and may end their goroutine. The polls continue, and the errors are reported.
func TestHostileCallbacks(t *testing.T) {
	for how, says := range map[string]string{"panics": "panicked", "exits": "ended", "calls us": "hostile"} {
		for where, fail := range map[string]func(act func()) (load.Sample, error){
			"Poll":          func(act func()) (load.Sample, error) { act(); return load.Sample{}, errors.New("hostile") },
			"error of Poll": func(act func()) (load.Sample, error) { return load.Sample{}, hostileError(act) },
			"error of a reading": func(act func()) (load.Sample, error) {
				return sample(load.Reading{Name: "r", Limit: 1, Err: hostileError(act)}), nil
			},
			"missing": func(act func()) (load.Sample, error) {
				return load.Sample{}, errors.Join(load.ErrUnavailable, hostileError(act))
			},
			"OnEvent": nil,
		} {
			t.Run(where+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testHostile(t, where, how, says, fail) })
			})
		}
	}
}

func testHostile(t *testing.T, where, how, says string, fail func(act func()) (load.Sample, error)) {
	var mon *load.Monitor
	act := func() {
		switch how {
		case "panics":
			panic("boom")
		case "exits":
			runtime.Goexit()
		default:
			mon.Level(load.All)
			mon.Snapshot()
			mon.Drain()
			if err := mon.Run(t.Context()); err == nil {
				t.Error("it runs twice")
			}
		}
	}
	source := &fitful{fail: func() (load.Sample, error) { return fail(act) }}
	events := 0
	config := load.Config{Sources: []load.Source{source}, OnEvent: func(e load.Event) { events++; _ = e.String() }}
	if where == "OnEvent" {
		source.fail = func() (load.Sample, error) { return load.Sample{}, errors.New("to have events") }
		config.OnEvent = func(load.Event) { events++; act() }
	}
	mon = must.Have(load.New(config))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	time.AfterFunc(2500*time.Millisecond, func() {
		s := mon.Snapshot()[0]
		if where != "OnEvent" && (s.Err == nil || !strings.Contains(s.Err.Error(), says)) {
			t.Errorf("the status says %v", s.Err)
		}
		if missing := where == "missing" && how == "calls us"; missing != s.Missing {
			t.Errorf("missing is %v", s.Missing)
		}
	})
	err := mon.Run(ctx)
	if wrong := where == "OnEvent" && how != "calls us"; wrong != (err != nil) || wrong && !strings.Contains(err.Error(), says) {
		t.Errorf("Run returned %v", err)
	}
	if source.polls < 90 || !mon.Level(load.All).Valid || events != 2 {
		t.Errorf("%d polls, %d events, %+v", source.polls, events, mon.Level(load.All))
	}
}
