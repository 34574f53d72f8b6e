package throttle_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// The faults of the code of a naive throttle. Others are among those of
// control and in package badgerload.

func TestFaultAverageOverTheWindow(t *testing.T) {
	naive := &naiveTracker{samples: make([]time.Duration, 100)}
	naive.record(800 * time.Millisecond)
	broken(t, naive.average() == 8*time.Millisecond, "%v", naive.average())

	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0)
		r := run(t, p, throttle.Config{})
		r.closedLoop(1, 800*time.Millisecond, 800*time.Millisecond)
		if got := r.Snapshot().Writes.Limiter.Mean; got < 790*time.Millisecond {
			t.Errorf("one sample of 800 ms is a mean of %v", got)
		}
	})
}

func TestFaultConversionAndShift(t *testing.T) {
	broken(t, naiveWriteDelay(0.504) == 0, "%v", naiveWriteDelay(0.504))
	broken(t, naiveWriteDelay(14) < 0, "%v", naiveWriteDelay(14))
	broken(t, naiveWriteDelay(23) == 0, "%v", naiveWriteDelay(23))

	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0)
		r := run(t, p, throttle.Config{Emergency: throttle.Emergency{Enter: 1e9}})
		r.closedLoop(10, 10*time.Millisecond, 3*time.Second)
		slower := math.Inf(1)
		for _, y := range []float64{0.86, 0.9, 1, 2, 14, 23, 1e6} {
			p.says(y)
			pass(time.Second)
			got := r.Snapshot().Writes.Pace.Rate
			if !(got > 0) || got > slower {
				t.Errorf("at a load of %v: a pace of %v, after %v", y, got, slower)
			}
			slower = got
		}
	})
}

func TestFaultActionsAreRareAndOffTheRequestPath(t *testing.T) {
	flushes := 0
	for i := 1; i <= 1000; i++ { // a thousand throttled operations
		if naiveBatch(i, 10, 200*time.Millisecond) > tick {
			flushes++
		}
	}
	broken(t, flushes == 100, "%d flushes, each by the operation that it delays", flushes)

	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.95)
		calls := 0
		r := run(t, p, throttle.Config{Actions: []throttle.Action{{
			Name: "flush", Every: 10 * time.Second,
			Do: func(context.Context) error { calls++; time.Sleep(5 * time.Second); return errors.New("busy") },
		}}})
		pass(time.Second)
		if calls != 1 {
			t.Fatalf("%d calls", calls)
		}
		began := time.Now()
		op, err := r.Start(t.Context(), throttle.Read, 1) // while it flushes
		op.Done(err)
		if took := time.Since(began); err != nil || took > 0 {
			t.Errorf("an operation took %v: %v", took, err)
		}
		pass(28 * time.Second) // at 0, 15 and, after this, 30 s
		if calls != 2 || r.Snapshot().Actions["flush"] != 1 && r.Snapshot().Actions["flush"] != 2 {
			t.Errorf("%d calls, %v returned", calls, r.Snapshot().Actions)
		}
		if !r.had(throttle.ActionRan) {
			t.Error("no event")
		}
		pass(10 * time.Second)
	})
}

func TestActionsThatPanicOrHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.95)
		release := make(chan struct{})
		r := run(t, p, throttle.Config{Actions: []throttle.Action{
			{Name: "bug", Do: func(context.Context) error { panic("bug") }},
			{Name: "stuck", Do: func(context.Context) error { <-release; return nil }},
		}})
		pass(time.Second)
		r.stop()
		var errs []string
		for range 2 {
			if err := <-r.ended; err != nil {
				errs = append(errs, err.Error())
			}
		}
		if len(errs) != 1 || !strings.Contains(errs[0], `"stuck" does not return`) {
			t.Errorf("Run: %v", errs)
		}
		close(release)
		synctest.Wait()
	})
}

// Memory is measured in the process by the resident set, not the heap, and no
// operation waits while it is.
func TestFaultMemoryInTheRightPlace(t *testing.T) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	s, err := (&load.Memory{}).Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	broken(t, float64(stats.HeapAlloc) < 0.9*s.Readings[0].Value, "the heap is %v of %v", stats.HeapAlloc, s.Readings[0].Value)

	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.become(func() (load.Sample, error) { time.Sleep(300 * time.Millisecond); return sampled(0.2), nil })
		r := run(t, p, throttle.Config{})
		pass(50 * time.Millisecond) // within a poll
		began := time.Now()
		op, err := r.Start(t.Context(), throttle.Write, 1)
		op.Done(err)
		_ = r.Snapshot()
		if took := time.Since(began); took > 0 {
			t.Errorf("an operation waited %v for a poll", took)
		}
	})
}

// The naive thresholds are numbers; ours a share of the limit that the source read from its store.
func TestFaultThresholdsOfTheStore(t *testing.T) {
	naive := func(tables int) bool { return tables > 6 }
	broken(t, naive(7), "7 tables of a stall at 40 throttle")
	for stall, want := range map[float64]bool{40: false, 8: true} {
		r := load.Reading{Value: 7, Limit: stall}
		if got := r.Load() > 0.85; got != want {
			t.Errorf("7 of %v: %v", stall, got)
		}
	}
}

func TestFaultFailedQueriesFreezeTheLoad(t *testing.T) {
	level := 0.2
	query := func() (float64, error) { return 0, errors.New("permission denied") }
	for range 100 {
		if y, err := query(); err == nil {
			level = y
		}
	}
	broken(t, level == 0.2, "%v", level)

	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.2)
		r := run(t, p, throttle.Config{})
		r.closedLoop(10, time.Millisecond, time.Second)
		p.become(func() (load.Sample, error) { return load.Sample{}, errors.New("permission denied") })
		r.closedLoop(10, 200*time.Millisecond, 5*time.Second) // 200 times slower
		if s := r.Snapshot().Writes; !s.Degraded || s.Pace.Rate == 0 || !r.had(throttle.Degraded) {
			t.Errorf("%+v, want it to go by its symptoms and to say so", s)
		}
		p.says(0.2)
		pass(10 * time.Second)
		if s := r.Snapshot().Writes; s.Degraded || s.Pace.Rate != 0 || !r.had(throttle.Restored) {
			t.Errorf("the source is back: %+v", s.Pace)
		}
	})
}

// A monitor that shares the pool that it watches: see TestPostgresKeepsItsConnection
// in load/sqlload.

func TestFaultSettingsAreChecked(t *testing.T) {
	var target float64
	broken(t, math.IsInf(100/target, 1), "a target of 0 is a pressure that is finite")
	func() {
		defer func() { broken(t, recover() != nil, "a batch of 0 does not panic") }()
		_ = naiveBatch(1, 0, 0)
	}()
	nan := math.NaN()
	pid := func(p throttle.PID) throttle.Config {
		return throttle.Config{Reads: throttle.Side{Laws: []throttle.LoadLaw{p}}}
	}
	laws := func(l ...throttle.LoadLaw) throttle.Config {
		return throttle.Config{Writes: throttle.Side{Laws: l}}
	}
	for _, c := range []struct {
		conf throttle.Config
		want string
	}{
		{throttle.Config{Tick: -1}, "Tick"},
		{throttle.Config{Emergency: throttle.Emergency{Enter: nan}}, "Emergency.Enter"},
		{throttle.Config{Emergency: throttle.Emergency{Enter: 0.5, Leave: 0.6}}, "Emergency.Leave"},
		{throttle.Config{Emergency: throttle.Emergency{Share: 2}}, "Emergency.Share"},
		{throttle.Config{Emergency: throttle.Emergency{Longest: -1}}, "Emergency.Longest"},
		{throttle.Config{Writes: throttle.Side{LatencyTarget: -1}}, "Writes.LatencyTarget"},
		{throttle.Config{Writes: throttle.Side{MaxInFlight: -1}}, "Writes.MaxInFlight is -1: want 0"},
		{throttle.Config{Reads: throttle.Side{Queue: weir.Queue{Size: -1}}}, "Reads"},
		{pid(throttle.PID{Setpoint: nan}), "Setpoint"},
		{pid(throttle.PID{Setpoint: -1}), "Setpoint"},
		{pid(throttle.PID{Kp: -1}), ": Reads.Laws[0].Kp is -1: want 0 (the default) or more"},
		{pid(throttle.PID{Ki: nan}), "Ki"},
		{pid(throttle.PID{MaxDelay: -1}), "MaxDelay"},
		{pid(throttle.PID{Filter: -1}), "Laws[0].Filter is -1ns: want 0"},
		{laws(nil), "Laws[0]"},
		{laws(throttle.DrainRate{Gain: -1}), ": Writes.Laws[0].Gain is -1: want 0 (the default) or more"},
		{laws(throttle.DrainRate{Healthy: 1}), "Healthy"},
		{laws(throttle.DrainRate{Smoothing: -1}), "Smoothing"},
		{laws(throttle.DrainRate{MaxDelay: -1}), "MaxDelay"},
		{laws(throttle.LinearRefusal{Soft: nan}), "Soft"},
		{laws(throttle.LinearRefusal{Soft: 2, Hard: 1}), "Hard"},
		{throttle.Config{Actions: []throttle.Action{{Name: "x"}}}, "Actions[0]"},
		{throttle.Config{Actions: []throttle.Action{{Name: "x", Above: nan, Do: func(context.Context) error { return nil }}}}, "Above"},
		{throttle.Config{Actions: []throttle.Action{{Name: "x", Every: -1, Do: func(context.Context) error { return nil }}}}, "Every"},
	} {
		if _, err := throttle.New(c.conf); !errors.Is(err, throttle.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want one that names %s", c.conf, err, c.want)
		}
	}
	th, err := throttle.New(throttle.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cost := range []int{0, -1, math.MinInt} {
		if _, err := th.Start(t.Context(), throttle.Write, cost); !errors.Is(err, throttle.ErrConfig) {
			t.Errorf("cost %d: %v", cost, err)
		}
	}
	if _, err := th.Start(t.Context(), throttle.Op(7), 1); !errors.Is(err, throttle.ErrConfig) {
		t.Errorf("operation 7: %v", err)
	}
}

func TestFaultFailuresCount(t *testing.T) {
	recorded := 0
	handle := func(err error) { // the naive handler
		if err != nil {
			return
		}
		recorded++
	}
	handle(errors.New("conflict"))
	broken(t, recorded == 0, "%d", recorded)

	th, err := throttle.New(throttle.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_ = th.Do(t.Context(), throttle.Write, 3, func(context.Context) error { return errors.New("conflict") })
	if s := th.Snapshot().Writes; s.Cost != 3 || s.Limiter.Failed != 1 {
		t.Errorf("%+v", s)
	}
}

func TestFaultRefusalPriorityAndCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(5)
		r := run(t, p, throttle.Config{Writes: throttle.Side{Queue: weir.Queue{Size: 2, Timeout: time.Hour}}})
		pass(30 * time.Second)
		op, err := r.Start(t.Context(), throttle.Write, 10) // 10 s of the pace
		if err != nil {
			t.Fatal(err)
		}
		op.Done(nil)
		began := time.Now()
		var order []string
		for _, c := range []struct {
			name     string
			priority weir.Priority
		}{{"low", weir.Low}, {"high", weir.High}} {
			go func() {
				op, err := r.Start(weir.WithPriority(t.Context(), c.priority), throttle.Write, 1)
				order = append(order, c.name)
				op.Done(err)
			}()
			synctest.Wait()
		}
		if _, err := r.Start(weir.WithPriority(t.Context(), weir.Low), throttle.Write, 1); !errors.Is(err, weir.ErrQueueFull) {
			t.Errorf("a full queue: %v", err)
		}
		pass(20 * time.Second)
		if strings.Join(order, " ") != "high low" {
			t.Errorf("served %v", order)
		}
		if s := r.Snapshot().Writes; s.ThrottleTime < 19*time.Second {
			t.Errorf("a cost of 10 held up what came next for %v in all, %v after it", s.ThrottleTime, time.Since(began))
		}
	})
}
