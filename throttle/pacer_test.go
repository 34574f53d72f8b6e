package throttle_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// The bands of expected behaviour, as docs/databases.md has them.
func TestBands(t *testing.T) {
	for name, c := range map[string]struct {
		writes, reads           float64 // loads
		pacedWrites, pacedReads bool
		emergency               bool
	}{
		"normal":      {writes: 0.4, reads: 0.4},
		"moderate":    {writes: 0.7, reads: 0.7},
		"high writes": {writes: 0.95, reads: 0.5, pacedWrites: true},
		"high reads":  {writes: 0.5, reads: 0.95, pacedReads: true},
		"critical":    {writes: 1.2, reads: 1.2, pacedWrites: true, pacedReads: true, emergency: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &plant{}
				p.become(func() (load.Sample, error) {
					return load.Sample{Readings: []load.Reading{
						{Name: "writes", Value: c.writes, Limit: 1, Scope: load.Writes},
						{Name: "reads", Value: c.reads, Limit: 1, Scope: load.Reads},
					}}, nil
				})
				r := run(t, p, throttle.Relay())
				pass(2 * time.Second)
				s := r.Snapshot()
				if paced := s.Writes.Pace.Rate > 0; paced != c.pacedWrites {
					t.Errorf("writes: %+v", s.Writes.Pace)
				}
				if paced := s.Reads.Pace.Rate > 0; paced != c.pacedReads {
					t.Errorf("reads: %+v", s.Reads.Pace)
				}
				if s.Writes.Emergency != c.emergency || s.Reads.Emergency != c.emergency {
					t.Errorf("emergencies: %v, %v", s.Writes.Emergency, s.Reads.Emergency)
				}
			})
		})
	}
}

// A stall completes nothing, so only the age of running operations shows it. The laws see it
// without a monitor too.
func TestLatencyTargetSeesAStall(t *testing.T) {
	for _, monitored := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := &plant{}
			p.says(0)
			conf := throttle.Config{Writes: throttle.Side{LatencyTarget: 10 * time.Millisecond, Laws: []throttle.LoadLaw{throttle.LoadPID{}}}}
			if monitored {
				conf.Monitor = monitor(t, p)
				go func() { _ = conf.Monitor.Run(t.Context()) }()
			}
			th := throttled(t, conf)
			go func() { _ = th.Run(t.Context()) }()
			op := must.Have(th.Acquire(t.Context(), throttle.Write, 1))(t)
			pass(2 * time.Second)
			if s := th.Snapshot().Writes; s.Degraded || s.Pace.Rate == 0 {
				t.Errorf("one write stuck for 2 s: pace %+v at a load of %v, degraded %v", s.Pace, s.Load, s.Degraded)
			}
			op.Done(nil)
		})
	}
}

// A side with a LoadPID alone paces by all readings, also by those that a Concurrency would bring
// down.
func TestPIDAloneSeesAllReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.become(func() (load.Sample, error) {
			return load.Sample{Actuator: load.ByConcurrency, Readings: sampled(0.95).Readings}, nil
		})
		r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{}}}})
		pass(10 * time.Second)
		if s := r.Snapshot(); s.Writes.Pace.Rate == 0 || s.Reads.Pace.Rate != 0 {
			t.Errorf("writes %+v, reads %+v: want those with a LoadPID alone paced", s.Writes.Pace, s.Reads.Pace)
		}
	})
}

// There is one pace for the process, however many write.
func TestTotalDoesNotGrowWithWriters(t *testing.T) {
	var writes []int64
	for _, writers := range []int{5, 250} {
		synctest.Test(t, func(t *testing.T) {
			r := loaded(t, 5, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{MaxDelay: 10 * time.Millisecond}}}})
			pass(30 * time.Second)
			writes = append(writes, r.closedLoop(writers, time.Millisecond, 10*time.Second))
		})
	}
	if writes[0] < 990 || writes[1] > writes[0]*11/10 {
		t.Errorf("%v writes in 10 s at 100/s, with 5 and 250 writers", writes)
	}
}

// Queries that fail leave no load behind: the symptoms pace, and say so. They pace nothing while
// the operations are as fast as before.
func TestFailedQueriesDegrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 0.2, throttle.Config{})
		r.closedLoop(5, 10*time.Millisecond, time.Second)
		r.plant.become(func() (load.Sample, error) { return load.Sample{}, errors.New("permission denied") })
		if got := r.closedLoop(5, 10*time.Millisecond, 5*time.Second); got < 2400 {
			t.Errorf("%d operations in 5 s, want all 2500: they are at ease", got)
		}
		r.closedLoop(10, time.Second, 5*time.Second) // 100 times slower
		if s := r.Snapshot().Writes; !s.Degraded || s.Pace.Rate == 0 || !r.had(throttle.Degraded) {
			t.Errorf("%+v, want it to go by its symptoms and to say so", s)
		}
		r.plant.says(0.2)
		pass(10 * time.Second)
		if s := r.Snapshot().Writes; s.Degraded || s.Pace.Rate != 0 || !r.had(throttle.Restored) {
			t.Errorf("the source is back: %+v", s.Pace)
		}
	})
}

// TestLostSignalsSayWhy: the log has the cause, and no line for the moment before the first answer.
func TestLostSignalsSayWhy(t *testing.T) {
	for name, test := range map[string]struct {
		poll func() (load.Sample, error)
		want string // of both sides; "" for no event
	}{
		"slow at first": {func() (load.Sample, error) { time.Sleep(500 * time.Millisecond); return sampled(0.2), nil }, ""},
		"denied":        {func() (load.Sample, error) { return load.Sample{}, errors.New("permission denied") }, "degraded, by symptoms: load: stale: source \"plant\": permission denied"},
		"never answers": {func() (load.Sample, error) { time.Sleep(time.Hour); return load.Sample{}, nil }, "has not answered yet"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &plant{}
				p.become(test.poll)
				r := run(t, p, throttle.Config{})
				pass(5 * time.Second)
				for _, e := range r.events {
					if !strings.Contains(e.String(), test.want) || e.Err == nil {
						t.Errorf("said %q", e)
					}
				}
				if got := len(r.events); (test.want == "") != (got == 0) || got > 2 {
					t.Errorf("%d events", got)
				}
				r.stop()
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

// The pace at which the signals were lost bounds the pace after, though nothing shows in the
// operations themselves, and doubles in a minute.
func TestLostSignalsHoldThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 1.5, throttle.Config{Emergency: 1e9})
		pass(30 * time.Second)
		before := r.Snapshot().Writes.Pace.Rate
		r.plant.become(func() (load.Sample, error) { return load.Sample{}, errors.New("no answer") })
		pass(61 * time.Second) // of which it takes one to be stale
		s := r.Snapshot().Writes
		if got := s.Pace.Rate / before; !s.Degraded || got < 1.9 || got > 2.1 {
			t.Errorf("a minute after the signals were lost the pace is %v times what it was, want 2: %+v", got, s.Pace)
		}
		r.plant.says(0)
		pass(30 * time.Second)
		if s := r.Snapshot().Writes; s.Degraded || s.Pace.Rate != 0 {
			t.Errorf("%+v half a minute after they were back", s.Pace)
		}
	})
}

// A database that stood still for seconds and has little to do is not paced any more once its
// signals are back. The operations seen during the stall say nothing about it now.
func TestFreezeOfAnIdleDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 0.05, throttle.Config{})
		r.closedLoop(5, 20*time.Millisecond, 10*time.Second)
		thaws := time.Now().Add(7 * time.Second)
		r.plant.become(func() (load.Sample, error) {
			if time.Now().Before(thaws) {
				return load.Sample{}, errors.New("no answer")
			}
			return sampled(0.05), nil
		})
		for range 5 {
			go func() {
				_ = r.Do(t.Context(), throttle.Write, 1, func(context.Context) error {
					time.Sleep(time.Until(thaws))
					return nil
				})
			}()
		}
		pass(6900 * time.Millisecond)
		if s := r.Snapshot().Writes; !s.Degraded || s.Pace.Rate == 0 {
			t.Fatalf("while it stands still: %+v", s)
		}
		pass(500 * time.Millisecond)
		if s := r.Snapshot().Writes; s.Degraded || s.Pace.Rate != 0 {
			t.Errorf("after it goes on: %+v, degraded %v", s.Pace, s.Degraded)
		}
		if n := r.closedLoop(5, 20*time.Millisecond, 2*time.Second); n < 450 {
			t.Errorf("%d writes in 2 s, want 500", n)
		}
	})
}

// The naive emergency blocked the only operations that could end it. Ours is ended by the monitor,
// or by time if the monitor keeps reporting the full load.
func TestEmergencyEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 0.5, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{Setpoint: 100}}}})
		r.closedLoop(10, 10*time.Millisecond, 5*time.Second)
		r.plant.says(1.2)
		pass(time.Second)
		s := r.Snapshot().Writes
		if !s.Emergency || s.Pace.Rate < 100 || s.Pace.Rate > 300 {
			t.Errorf("%+v at a flow of 1000/s, want a quarter", s.Pace)
		}
		r.plant.says(0.95) // between Leave and Enter
		pass(time.Second)
		if !r.Snapshot().Writes.Emergency {
			t.Error("it ended within the hysteresis")
		}
		r.plant.says(0.5)
		pass(time.Second)
		if s := r.Snapshot().Writes; s.Emergency || s.Pace.Rate != 0 {
			t.Errorf("%+v: want it over", s.Pace)
		}
		r.plant.says(2) // for ever, and without any operation
		pass(300 * time.Millisecond)
		if !r.Snapshot().Writes.Emergency {
			t.Error("one that helped keeps the next from beginning at once")
		}
		on := 0
		for range 100 {
			pass(time.Second)
			if r.Snapshot().Writes.Emergency {
				on++
			}
		}
		if s := r.Snapshot().Writes; on < 40 || on > 60 || s.Emergencies < 5 {
			t.Errorf("on for %d of 100 s, %d times: want it 10 s on, 10 s off", on, s.Emergencies)
		}
		began, ended := 0, 0
		for _, w := range r.kinds() {
			switch w {
			case throttle.EmergencyBegan:
				began++
			case throttle.EmergencyEnded:
				ended++
			}
		}
		if began < 5 || began-ended > 2 {
			t.Errorf("%d events that it began, %d that it ended", began, ended)
		}
	})
}

// An emergency ends with Run, and says so.
func TestEmergencyEndsWithRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 1.2, throttle.Config{})
		pass(time.Second)
		if s := r.Snapshot().Writes; !s.Emergency || s.Pace.Rate != 1 {
			t.Fatalf("emergency %v without a flow: %+v, want the slowest pace", s.Emergency, s.Pace)
		}
		r.stop()
		pass(time.Second)
		if r.Snapshot().Writes.Emergency || !r.had(throttle.EmergencyEnded) {
			t.Errorf("it goes on after Run: events %v", r.kinds())
		}
	})
}
