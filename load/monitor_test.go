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
			load.Reading{Name: "misses", Value: 0.9, Limit: math.Inf(1), Unit: load.Share},
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
	for _, c := range []struct {
		conf load.Config
		want string
	}{
		{load.Config{}, "Sources is empty"},
		{load.Config{Sources: []load.Source{nil}}, "Sources[0] is nil"},
		{load.Config{Sources: []load.Source{a, a}}, `Sources[1] is named "a"`},
		{load.Config{Sources: []load.Source{a}, Interval: -1}, "Interval"},
		{load.Config{Sources: []load.Source{a, &load.CPU{Limit: 60}}}, "Sources[1]: CPU.Limit is 60: want 0"}, // it would report nothing
		{load.Config{Sources: []load.Source{&load.CPU{Limit: math.NaN()}}}, "CPU.Limit"},
	} {
		if _, err := load.New(c.conf); !errors.Is(err, load.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.conf, err, c.want)
		}
	}
}

// A reading is valid for ten intervals, however long they are.
func TestIntervalOfYears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &script{name: "a"}
		a.answer(reading("a", 0.5, 1))
		w := start(t, load.Config{Sources: []load.Source{a}, Interval: math.MaxInt64})
		pass(time.Hour)
		if l := w.Level(load.All); !l.Valid || l.Degraded {
			t.Errorf("%+v, want a valid reading", l)
		}
	})
}

// TestHostileCallbacks: a source and a hook may call every method of the monitor, may panic and may
// end their goroutine. The polls continue, and the errors are reported.
func TestHostileCallbacks(t *testing.T) {
	for how, says := range map[string]string{"panics": "panicked", "exits": "ended", "calls us": ""} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
						if err := mon.Run(t.Context()); err == nil {
							t.Error("it runs twice")
						}
					}
				}
				s, events := &script{name: "hostile"}, 0
				s.do(func(context.Context) (load.Sample, error) { act(); return load.Sample{}, errors.New("no answer") })
				mon = must.Have(load.New(load.Config{Sources: []load.Source{s}, OnEvent: func(load.Event) { events++; act() }}))(t)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				time.AfterFunc(5*time.Second, func() {
					if err := mon.Snapshot()[0].Err; err == nil || !strings.Contains(err.Error(), says) {
						t.Errorf("the status says %v", err)
					}
					s.answer(reading("r", 1, 2))
				})
				err := mon.Run(ctx)
				if (says != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), says) {
					t.Errorf("Run returned %v", err)
				}
				if f := mon.Snapshot()[0]; f.Polls < 90 || !mon.Level(load.All).Valid || events != 2 {
					t.Errorf("%d polls, %d events, %+v", f.Polls, events, mon.Level(load.All))
				}
			})
		})
	}
}
