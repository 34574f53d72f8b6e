package load_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
	m, err := load.New(c)
	if err != nil {
		t.Fatal(err)
	}
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
		w := start(t, load.Config{Feeds: []load.Feed{{Source: store}, {Source: memory}}})
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

func TestWeightedSumMasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, memory := &script{name: "store"}, &script{name: "memory"}
		store.answer(reading("tables", 15, 15))
		memory.answer(reading("heap", 0.3, 1))
		w := start(t, load.Config{Combine: load.WeightedSum, Feeds: []load.Feed{{Source: memory, Weight: 0.7}, {Source: store, Weight: 0.3}}})
		pass(time.Millisecond)
		if l := w.Level(load.All); math.Abs(l.Load-0.51) > 1e-9 {
			t.Errorf("%+v, want the 0.51 of the documentation", l)
		}
	})
}

// Loads too large to be added up make a load all the same, however large or small the weights.
func TestWeightedSumOfHugeLoads(t *testing.T) {
	for _, weight := range []float64{math.SmallestNonzeroFloat64, 1e9} {
		synctest.Test(t, func(t *testing.T) {
			store, memory := &script{name: "store"}, &script{name: "memory"}
			store.answer(reading("tables", math.MaxFloat64, 1))
			memory.answer(reading("heap", math.MaxFloat64, 1))
			w := start(t, load.Config{Combine: load.WeightedSum, Feeds: []load.Feed{
				{Source: memory, Weight: weight}, {Source: store, Weight: weight},
			}})
			pass(time.Millisecond)
			if l := w.Level(load.All); l.Load != math.MaxFloat64 {
				t.Errorf("a load of %v, want that of either", l.Load)
			}
		})
	}
}

func TestStaleAndBack(t *testing.T) {
	failure := errors.New("permission denied")
	for name, fail := range map[string]func(ctx context.Context) (load.Sample, error){
		"error":       func(context.Context) (load.Sample, error) { return load.Sample{}, failure },
		"panic":       func(context.Context) (load.Sample, error) { panic("closed") },
		"hangs":       func(ctx context.Context) (load.Sample, error) { <-ctx.Done(); return load.Sample{}, ctx.Err() },
		"empty":       func(context.Context) (load.Sample, error) { return load.Sample{}, nil },
		"nan":         func(context.Context) (load.Sample, error) { return sample(reading("a", math.NaN(), 1)), nil },
		"infinite":    func(context.Context) (load.Sample, error) { return sample(reading("a", math.Inf(1), 1)), nil },
		"negative":    func(context.Context) (load.Sample, error) { return sample(reading("a", -1, 1)), nil },
		"target of 0": func(context.Context) (load.Sample, error) { return sample(reading("a", 1, 0)), nil },
		"an hour old": func(context.Context) (load.Sample, error) {
			return sample(load.Reading{Name: "a", Value: 1, Limit: 1, At: time.Now().Add(-time.Hour)}), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, other := &script{name: "a"}, &script{name: "b"}
				s.answer(reading("a", 0.5, 1))
				other.answer(reading("b", 0.1, 1))
				w := start(t, load.Config{Feeds: []load.Feed{{Source: s}, {Source: other}}})
				pass(time.Millisecond)
				s.do(fail)
				pass(500 * time.Millisecond)
				if l := w.Level(load.All); name != "an hour old" && (l.Load != 0.5 || l.Degraded) {
					t.Errorf("within MaxAge: %+v, want the last value held", l)
				}
				pass(3 * time.Second)
				if l := w.Level(load.All); l.Load != 0.1 || !l.Degraded || !l.Valid {
					t.Errorf("stale: %+v, want that of the other feed, degraded", l)
				}
				if got := w.kinds(); len(got) != 1 || got[0] != load.WentStale {
					t.Errorf("events %v, want one that it is stale", got)
				}
				if name == "error" && !errors.Is(w.events[0].Err, failure) {
					t.Errorf("event %v, want why", w.events[0])
				}
				s.answer(reading("a", 0.7, 1))
				pass(2 * time.Second)
				if l := w.Level(load.All); l.Load != 0.7 || l.Degraded {
					t.Errorf("afterwards: %+v, want what it says now", l)
				}
				if got := w.kinds(); len(got) != 2 || got[1] != load.CameBack {
					t.Errorf("events %v, want that it is back", got)
				}
			})
		})
	}
}

func sample(readings ...load.Reading) load.Sample { return load.Sample{Readings: readings} }

func TestUnavailableIsNotStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, other := &script{name: "a"}, &script{name: "b"}
		s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, load.ErrUnavailable })
		other.answer(reading("b", 0.1, 1))
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}, {Source: other}}})
		pass(10 * time.Second)
		if l := w.Level(load.All); l.Degraded || !l.Valid || l.Load != 0.1 {
			t.Errorf("%+v", l)
		}
		if got := w.kinds(); len(got) != 1 || got[0] != load.WentMissing {
			t.Errorf("events %v", got)
		}
		if got := w.events[0].String(); strings.Count(got, "unavailable") != 1 || !strings.HasPrefix(got, w.events[0].Source+": ") {
			t.Errorf("it says %q", got)
		}
	})
}

// A poll that ignores its context holds up neither the other feeds, nor the
// report, nor the end of Run; and it is not called again before it returns.
func TestPollThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		calls := 0
		s, other := &script{name: "a"}, &script{name: "b"}
		s.do(func(context.Context) (load.Sample, error) { calls++; <-release; return load.Sample{}, nil })
		other.answer(reading("b", 0.1, 1))
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}, {Source: other}}})
		pass(10 * time.Second)
		if got := w.kinds(); len(got) != 1 || got[0] != load.WentStale || calls != 1 {
			t.Errorf("events %v after %d calls", got, calls)
		}
		if got, want := w.events[0].String(), `load: stale: source "a" has not answered yet`; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
		if l := w.Level(load.All); l.Load != 0.1 || !l.Degraded {
			t.Errorf("%+v", l)
		}
		w.stop()
		if err := <-w.ended; err == nil {
			t.Error("Run returned nil and left a poll behind")
		}
		close(release)
		synctest.Wait()
	})
}

func TestRunTwiceAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		s.answer(reading("a", 0.5, 1))
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
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

func TestNobodyRan(t *testing.T) {
	s := &script{name: "a"}
	m, err := load.New(load.Config{Feeds: []load.Feed{{Source: s}}})
	if err != nil {
		t.Fatal(err)
	}
	if l := m.Level(load.All); l.Valid || !l.Degraded {
		t.Errorf("%+v", l)
	}
	if _, _, ok := m.Drain(); ok {
		t.Error("a drain from nowhere")
	}
}

// A source that compares two polls reports nothing at the first, and that is no news. One that
// goes on like that is.
func TestFirstPollMayTellNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, mute := &script{name: "a"}, &script{name: "mute"}
		s.answer()
		mute.answer()
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}, {Source: mute}}})
		pass(50 * time.Millisecond)
		s.answer(reading("a", 0.5, 1))
		pass(500 * time.Millisecond)
		if got := w.kinds(); len(got) != 0 {
			t.Errorf("events %v at the start, want none", got)
		}
		pass(5 * time.Second)
		if got := w.kinds(); len(got) != 1 || got[0] != load.WentStale || w.events[0].Source != "mute" {
			t.Errorf("events %v, want one that the other is stale", w.events)
		}
	})
}

// The interval is from the end of a poll, so that a slow system gets its rest.
func TestSlowAnswerIsNotAskedForAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		polls := 0
		s.do(func(context.Context) (load.Sample, error) {
			polls++
			time.Sleep(150 * time.Millisecond)
			return sample(reading("a", 0.5, 1)), nil
		})
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}, Interval: 100 * time.Millisecond})
		pass(10 * time.Second)
		w.stop()
		pass(time.Second)
		if polls < 39 || polls > 41 {
			t.Errorf("%d polls of 150 ms in 10 s, want one each 250 ms", polls)
		}
	})
}

// A reading that was never valid is stale because of its fault.
func TestNeverValidSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		s.answer(reading("a", math.NaN(), 1))
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		pass(10 * time.Millisecond)
		if got := w.kinds(); len(got) != 1 || !errors.Is(w.events[0].Err, load.ErrInvalid) {
			t.Errorf("events %v, want one that the value is not a number", w.events)
		}
	})
}

// A clock that jumped back leaves readings from the future: they are as new as the poll.
func TestReadingFromTheFutureAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		s.answer(load.Reading{Name: "a", Value: 0.5, Limit: 1, At: time.Now().Add(time.Hour)})
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		pass(time.Second)
		s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, errors.New("no answer") })
		pass(5 * time.Second)
		if l := w.Level(load.All); l.Valid || !l.Degraded {
			t.Errorf("%+v, want it stale long before the hour is over", l)
		}
	})
}

// One reading that is unavailable does not take its feed with it.
func TestUnavailableReadingLeavesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		s.answer(reading("disk", 0.9, 1), reading("quota", 0.1, 1))
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		pass(time.Second)
		s.answer(reading("disk", 0.9, 1), load.Reading{Name: "quota", Err: load.ErrUnavailable})
		pass(10 * time.Second)
		if l := w.Level(load.All); l.Degraded || !l.Valid || l.Load != 0.9 {
			t.Errorf("%+v", l)
		}
	})
}

// A drain that makes no sense any more is a signal that is lost, whatever the readings say.
func TestDrainGoesStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		tell := func(d *load.Drain) {
			s.do(func(context.Context) (load.Sample, error) {
				return load.Sample{Readings: []load.Reading{reading("tables", 1, 15)}, Drain: d}, nil
			})
		}
		tell(&load.Drain{Drained: 1, Backlog: 1, Target: 9})
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		pass(time.Second)
		if _, _, ok := w.Drain(); !ok || w.Level(load.All).Degraded {
			t.Errorf("%+v", w.Snapshot())
		}
		for _, d := range []*load.Drain{{Drained: math.NaN(), Target: 9}, nil} {
			tell(d)
			pass(2 * time.Second)
			if _, _, ok := w.Drain(); ok || !w.Level(load.All).Degraded || !errors.Is(w.Snapshot()[0].Err, load.ErrStale) {
				t.Errorf("%v: %+v", d, w.Snapshot())
			}
		}
		tell(&load.Drain{Drained: 2, Backlog: 1, Target: 9})
		pass(time.Second)
		if w.Level(load.All).Degraded {
			t.Errorf("%+v", w.Snapshot())
		}
	})
}
