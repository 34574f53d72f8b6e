package load_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
)

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
				w := start(t, load.Config{Sources: []load.Source{s, other}})
				pass(time.Millisecond)
				s.do(fail)
				pass(500 * time.Millisecond)
				if l := w.Level(load.All); name != "an hour old" && (l.Load != 0.5 || l.Degraded) {
					t.Errorf("within a second: %+v, want the last value held", l)
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

// A poll that ignores its context holds up neither the other feeds, nor the
// report, nor the end of Run; and it is not called again before it returns.
func TestPollThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		calls := 0
		s, other := &script{name: "a"}, &script{name: "b"}
		s.do(func(context.Context) (load.Sample, error) { calls++; <-release; return load.Sample{}, nil })
		other.answer(reading("b", 0.1, 1))
		w := start(t, load.Config{Sources: []load.Source{s, other}})
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

// A source that compares two polls reports nothing at the first, and that is no event. Further
// polls without a reading are one.
func TestFirstPollMayTellNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, mute := &script{name: "a"}, &script{name: "mute"}
		s.answer()
		mute.answer()
		w := start(t, load.Config{Sources: []load.Source{s, mute}})
		pass(50 * time.Millisecond)
		s.answer(reading("a", 0.5, 1))
		pass(500 * time.Millisecond)
		if got := w.kinds(); len(got) != 0 {
			t.Errorf("events %v at the start, want none", got)
		}
		pass(5 * time.Second)
		if got, want := w.events, `load: stale: source "mute" has reported nothing yet`; len(got) != 1 || got[0].String() != want {
			t.Errorf("events %v, want %s", got, want)
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
		w := start(t, load.Config{Sources: []load.Source{s}, Interval: 100 * time.Millisecond})
		pass(10 * time.Second)
		w.stop()
		if err := <-w.ended; err != nil {
			t.Errorf("%v: Run did not wait for the last poll", err)
		}
		if polls < 39 || polls > 41 {
			t.Errorf("%d polls of 150 ms in 10 s, want one each 250 ms", polls)
		}
	})
}

func TestActuatorOfASource(t *testing.T) {
	for _, actuator := range []load.Actuator{load.ByPace, load.ByConcurrency} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{name: "a"}
			s.do(func(context.Context) (load.Sample, error) {
				return load.Sample{Actuator: actuator, Readings: []load.Reading{reading("a", 0.5, 1)}}, nil
			})
			w := start(t, load.Config{Sources: []load.Source{s}})
			pass(time.Millisecond)
			if f := w.Snapshot()[0]; f.Actuator != actuator || f.Err != nil {
				t.Errorf("%v, %v: want %v", f.Actuator, f.Err, actuator)
			}
			s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, nil }) // nothing new
			pass(200 * time.Millisecond)
			if f := w.Snapshot()[0]; f.Actuator != actuator || len(f.Readings) != 1 {
				t.Errorf("%v of the readings %v, want that they keep %v", f.Actuator, f.Readings, actuator)
			}
		})
	}
}

// A source that was never valid is stale because of its last fault, has no age, and is polled on.
func TestNeverValidSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		s.answer(reading("a", math.NaN(), 1))
		w := start(t, load.Config{Sources: []load.Source{s}})
		if f := w.Snapshot()[0]; f.Age != 0 || !errors.Is(f.Err, load.ErrStale) {
			t.Errorf("before the first poll: %v, of an age of %v", f.Err, f.Age)
		}
		pass(10 * time.Millisecond)
		if got := w.kinds(); len(got) != 1 || !errors.Is(w.events[0].Err, load.ErrInvalid) {
			t.Errorf("events %v, want one that the value is not a number", w.events)
		}
		for want, poll := range map[string]func(context.Context) (load.Sample, error){
			"value is -1": func(context.Context) (load.Sample, error) { return sample(reading("a", -1, 1)), nil },
			"actuator is": func(context.Context) (load.Sample, error) {
				return load.Sample{Actuator: 7, Readings: []load.Reading{reading("a", 0.5, 1)}}, nil
			},
			"connection refused": func(context.Context) (load.Sample, error) { return load.Sample{}, errors.New("connection refused") },
		} {
			s.do(poll)
			polled := w.Snapshot()[0].Polls
			pass(time.Second)
			f := w.Snapshot()[0]
			if f.Age != 0 || !strings.Contains(f.Err.Error(), want) || f.Polls < polled+8 || f.Failures != f.Polls {
				t.Errorf("%v, of an age of %v, after %d polls, %d failures: want %q", f.Err, f.Age, f.Polls-polled, f.Failures, want)
			}
			if answers := want != "connection refused"; errors.Is(f.Err, load.ErrInvalid) != answers {
				t.Errorf("%v: want an error that matches ErrInvalid if the source answers", f.Err)
			}
		}
	})
}

// A clock that jumped back leaves readings from the future: they are as new as the poll.
func TestReadingFromTheFutureAges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "a"}
		s.answer(load.Reading{Name: "a", Value: 0.5, Limit: 1, At: time.Now().Add(time.Hour)})
		w := start(t, load.Config{Sources: []load.Source{s}})
		pass(time.Second)
		s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, errors.New("no answer") })
		pass(5 * time.Second)
		if l := w.Level(load.All); l.Valid || !l.Degraded {
			t.Errorf("%+v, want it stale long before the hour is over", l)
		}
	})
}

// One reading that is unavailable does not take its feed with it, and one feed that is does not
// take the others.
func TestUnavailableReadingLeavesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, missing := &script{name: "a"}, &script{name: "missing"}
		s.answer(reading("disk", 0.9, 1), reading("quota", 0.1, 1))
		missing.do(func(context.Context) (load.Sample, error) {
			return load.Sample{}, fmt.Errorf("no such file: %w", load.ErrUnavailable)
		})
		w := start(t, load.Config{Sources: []load.Source{s, missing}})
		pass(time.Second)
		s.answer(reading("disk", 0.9, 1), load.Reading{Name: "quota", Err: load.ErrUnavailable})
		pass(10 * time.Second)
		if l := w.Level(load.All); l.Degraded || !l.Valid || l.Load != 0.9 || !w.Snapshot()[1].Missing {
			t.Errorf("%+v, %+v", l, w.Snapshot()[1])
		}
		if got := w.kinds(); !slices.Equal(got, []load.Kind{load.WentMissing}) {
			t.Errorf("events %v, want that one feed is unavailable", got)
		}
		broken := errors.New("broken")
		s.answer(reading("disk", 0.9, 1), load.Reading{Name: "quota", Err: broken})
		pass(time.Second)
		if f := w.Snapshot()[0]; !errors.Is(f.Err, broken) {
			t.Errorf("%v: want the error of the reading that was unavailable before", f.Err)
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
		w := start(t, load.Config{Sources: []load.Source{s}})
		pass(time.Second)
		if w.Snapshot().Drain() == nil || w.Level(load.All).Degraded || w.Snapshot()[0].Failures > 0 {
			t.Errorf("%+v", w.Snapshot())
		}
		for _, d := range []*load.Drain{{Drained: math.NaN(), Target: 9}, nil} {
			tell(d)
			pass(2 * time.Second)
			if w.Snapshot().Drain() != nil || !w.Level(load.All).Degraded || !errors.Is(w.Snapshot()[0].Err, load.ErrStale) {
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

// A system that refuses the source's credentials is left alone for half a minute, because it may
// lock out a user whose password is wrong too often. The event says so at once.
func TestDeniedSourceIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "store"}
		denied := fmt.Errorf("the password is wrong: %w", load.ErrDenied)
		s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, denied })
		w := start(t, load.Config{Sources: []load.Source{s}})
		pass(29 * time.Second)
		if f := w.Snapshot()[0]; f.Polls != 1 || !errors.Is(f.Err, load.ErrDenied) {
			t.Errorf("polled %d times in 29 s, want once: %v", f.Polls, f.Err)
		}
		if kinds := w.kinds(); !slices.Equal(kinds, []load.Kind{load.WentStale}) {
			t.Errorf("reported %v", kinds)
		}
		s.answer(reading("load", 0.5, 1))
		pass(2 * time.Second)
		if f := w.Snapshot()[0]; f.Polls < 10 || f.Err != nil {
			t.Errorf("polled %d times after it was let in: %v", f.Polls, f.Err)
		}
	})
}

// Values of a source or a caller may be nonsense; a load is a number that is not negative all the
// same.
func TestBadInput(t *testing.T) {
	values := []float64{0, -1, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}
	for _, value := range values {
		for _, limit := range values {
			r := load.Reading{Name: "a\nb", Value: value, Limit: limit, Unit: 99}
			if y := r.Load(); math.IsNaN(y) || y < 0 {
				t.Errorf("%v of %v is a load of %v", value, limit, y)
			}
			_ = r.String()
		}
	}
	_ = load.Scope(99).String() + load.Unit(99).String() + load.Kind(99).String() + load.Event{}.String()
	if _, concerned := (load.FeedSnapshot{}).Worst(99); concerned {
		t.Error("an unknown scope concerns a source that said nothing")
	}
}

func TestEventIsOneLine(t *testing.T) {
	e := load.Event{Source: "a", Kind: load.WentStale, Err: errors.Join(errors.New("no answer"), errors.New("denied"))}
	if got, want := e.String(), `"no answer\ndenied"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReadingInWords(t *testing.T) {
	for want, r := range map[string]load.Reading{
		"level-0 tables 9 of 15":   {Name: "level-0 tables", Value: 9, Limit: 15},
		"tree 120 MiB":             {Name: "tree", Value: 120 << 20, Limit: math.Inf(1), Unit: load.Bytes},
		"longest wait 250ms of 1s": {Name: "longest wait", Value: 0.25, Limit: 1, Unit: load.Seconds},
		"cpu 60% of 90%":           {Name: "cpu", Value: 0.6, Limit: 0.9, Unit: load.Share},
		"quota: load: unavailable": {Name: "quota", Err: load.ErrUnavailable},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	kinds := fmt.Sprint(load.WentStale, load.WentMissing, load.CameBack, load.All, load.Reads, load.Writes, load.ByPace, load.ByConcurrency)
	if want := "stale unavailable answers again all reads writes pace concurrency"; kinds != want {
		t.Errorf("%q, want %q", kinds, want)
	}
}
