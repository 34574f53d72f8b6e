package throttle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

func TestStopsInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.2)
		th, err := throttle.New(throttle.Config{})
		if err != nil {
			t.Fatal(err)
		}
		th.Close() // before Run
		th.Close()
		if _, err := th.Start(t.Context(), throttle.Read, 1); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 {
			if err := th.Run(ended); err != nil {
				t.Errorf("Run, of a closed throttle with a context that has ended: %v", err)
			}
		}
		r := run(t, p, throttle.Config{})
		pass(time.Second)
		if err := r.Run(t.Context()); !errors.Is(err, throttle.ErrRunning) {
			t.Errorf("a second Run: %v", err)
		}
	})
}

// When Run ends, waiting operations continue, and nothing is paced any more.
func TestEndOfRunLiftsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(5)
		r := run(t, p, throttle.Config{Writes: throttle.Side{Queue: weir.Queue{Timeout: time.Hour}}})
		pass(30 * time.Second)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := r.Do(context.WithoutCancel(t.Context()), throttle.Write, 1, func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		r.stop()
		all.Wait()
		if took := time.Since(began); took > 0 {
			t.Errorf("what waited went on after %v", took)
		}
	})
}

// The naive emergency blocked the operations that alone could end it. Ours ends by the
// monitor, or by itself when that goes on to say that all is lost.
func TestEmergencyEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.5)
		r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LinearRefusal{Soft: 100, Hard: 200}}}})
		r.closedLoop(10, 10*time.Millisecond, 5*time.Second)
		p.says(1.2)
		pass(time.Second)
		s := r.Snapshot().Writes
		if !s.Emergency || s.Pace.Rate < 100 || s.Pace.Rate > 300 {
			t.Errorf("%+v at a flow of 1000/s, want a quarter", s.Pace)
		}
		p.says(0.95) // between Leave and Enter
		pass(time.Second)
		if !r.Snapshot().Writes.Emergency {
			t.Error("it ended within the hysteresis")
		}
		p.says(0.5)
		pass(time.Second)
		if s := r.Snapshot().Writes; s.Emergency || s.Pace.Rate != 0 {
			t.Errorf("%+v: want it over", s.Pace)
		}
		p.says(2) // for ever, and without any operation
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

// A store that is closed, hangs or panics under its monitor costs signals, not operations.
func TestStoreFailsUnderTheMonitor(t *testing.T) {
	for name, fail := range map[string]func() (load.Sample, error){
		"closed":       func() (load.Sample, error) { panic("DB closed") },
		"a long while": func() (load.Sample, error) { time.Sleep(10 * time.Second); return sampled(0.2), nil },
		"an hour ago": func() (load.Sample, error) {
			s := sampled(0.2)
			s.Readings[0].At = time.Now().Add(-time.Hour)
			return s, nil
		},
		"target of 0": func() (load.Sample, error) {
			return load.Sample{Readings: []load.Reading{{Name: "load", Value: 1}}}, nil
		},
		"bad drain": func() (load.Sample, error) {
			return load.Sample{Drain: &load.Drain{Backlog: -1, Target: 1}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &plant{}
				p.says(0.2)
				r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.PID{}, throttle.DrainRate{}}}})
				r.closedLoop(5, 10*time.Millisecond, time.Second)
				p.become(fail)
				if got := r.closedLoop(5, 10*time.Millisecond, 5*time.Second); got < 2400 {
					t.Errorf("%d operations in 5 s, want all 2500: they are at ease", got)
				}
				if s := r.Snapshot().Writes; !s.Degraded {
					t.Errorf("%+v", s)
				}
				p.says(0.3)
				pass(15 * time.Second)
				if s := r.Snapshot().Writes; s.Degraded || s.Load != 0.3 {
					t.Errorf("afterwards: a load of %v", s.Load)
				}
			})
		})
	}
}

// An operation that starts at once goes before the goroutine of Run: that is no fault.
func TestStartBeforeTheGoroutineOfRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0)
		mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: p}}})
		if err != nil {
			t.Fatal(err)
		}
		var events []throttle.Event
		th, err := throttle.New(throttle.Config{Monitor: mon, OnEvent: func(e throttle.Event) { events = append(events, e) }})
		if err != nil {
			t.Fatal(err)
		}
		start := func() {
			op, err := th.Start(t.Context(), throttle.Write, 1)
			if err != nil {
				t.Fatal(err)
			}
			op.Done(nil)
		}
		start()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = th.Run(ctx) })
		synctest.Wait()
		start() // before the goroutine of the monitor's
		running.Go(func() { _ = mon.Run(ctx) })
		pass(2 * time.Second)
		start()
		stop()
		running.Wait()
		if len(events) != 0 {
			t.Errorf("events %v: want none", events)
		}
	})
}

// A throttle whose Run was never called paces nothing, and says so once.
func TestStartBeforeRunIsReported(t *testing.T) {
	for name, monitored := range map[string]bool{"alone": false, "with a monitor": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var events []throttle.Event
				c := throttle.Config{Name: "db", OnEvent: func(e throttle.Event) { events = append(events, e) }}
				if monitored {
					mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: &plant{}}}})
					if err != nil {
						t.Fatal(err)
					}
					c.Monitor = mon
				}
				th, err := throttle.New(c)
				if err != nil {
					t.Fatal(err)
				}
				pass(time.Second)
				for range 3 {
					op, err := th.Start(t.Context(), throttle.Write, 1)
					if err != nil {
						t.Fatal(err)
					}
					op.Done(nil)
				}
				if len(events) != 1 || events[0].Kind != throttle.NotRunning || events[0].Op != throttle.Write ||
					events[0].String() != "db: writes: not running: call Run" {
					t.Errorf("events %v: want one that says so", events)
				}
			})
		})
	}
}

// A throttle that runs without its monitor says so too.
func TestStartWithoutTheMonitorIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: &plant{}}}})
		if err != nil {
			t.Fatal(err)
		}
		var events []throttle.Event
		th, err := throttle.New(throttle.Config{Name: "db", Monitor: mon, OnEvent: func(e throttle.Event) { events = append(events, e) }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- th.Run(ctx) }()
		pass(time.Second)
		for range 3 {
			op, err := th.Start(t.Context(), throttle.Read, 1)
			if err != nil {
				t.Fatal(err)
			}
			op.Done(nil)
		}
		if len(events) != 1 || events[0].Kind != throttle.MonitorNotRunning ||
			events[0].String() != "db: reads: monitor not running: call Monitor.Run" {
			t.Errorf("events %v: want one that says so", events)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
