package throttle_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// The digestion while the signals were missing was not paid for with the writes
// admitted in the one tick after, so the drain law comes back with the rate it had.
func TestDrainRateAfterLostSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tree()
		healthy := p.poll
		r := run(t, &p.plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
		r.closedLoop(40, 10*time.Millisecond, 20*time.Second)
		p.become(func() (load.Sample, error) {
			_, _ = healthy() // it goes on
			return load.Sample{}, errors.New("no answer")
		})
		r.closedLoop(40, 10*time.Millisecond, 30*time.Second)
		p.become(healthy)
		paceless := 0
		for range 40 {
			r.closedLoop(40, 10*time.Millisecond, 500*time.Millisecond)
			if rate := r.Snapshot().Writes.Pace.Rate; rate == 0 || rate > 5000 {
				paceless++
			}
		}
		if st := r.Snapshot().Writes; paceless > 0 || st.Level.Load >= 1 || st.Pace.Rate < 350 || !r.had(throttle.Restored) {
			t.Errorf("in %d of 40 samples the pace is none or 10 times what is digested; at the end %v at a load of %v", paceless, st.Pace.Rate, st.Level.Load)
		}
	})
}

// The pace at which the signals were lost bounds the pace after, though nothing shows in the
// operations themselves, and doubles in a minute.
func TestLostSignalsHoldThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(1.5)
		r := run(t, p, throttle.Config{Emergency: throttle.Emergency{Enter: 1e9}})
		pass(30 * time.Second)
		before := r.Snapshot().Writes.Pace.Rate
		p.become(func() (load.Sample, error) { return load.Sample{}, errors.New("no answer") })
		pass(61 * time.Second) // of which it takes one to be stale
		s := r.Snapshot().Writes
		if got := s.Pace.Rate / before; !s.Degraded || got < 1.9 || got > 2.1 {
			t.Errorf("a minute after the signals were lost the pace is %v times what it was, want 2: %+v", got, s.Pace)
		}
	})
}

// A database that stood still for seconds and has little to do is not paced any more once its
// signals are back. The operations seen during the stall say nothing about it now.
func TestFreezeOfAnIdleDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.05)
		r := run(t, p, throttle.Config{})
		r.closedLoop(5, 20*time.Millisecond, 10*time.Second)
		thaws := time.Now().Add(7 * time.Second)
		p.become(func() (load.Sample, error) {
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

// Another Run begins without a pace, whatever held when the last one ended.
func TestRunAgainForgetsTheStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.95)
		mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: p}}})
		if err != nil {
			t.Fatal(err)
		}
		th, err := throttle.New(throttle.Config{Monitor: mon})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = mon.Run(ctx) }()
		synctest.Wait()
		runFor := func(d time.Duration) throttle.Snapshot {
			ctx, cancel := context.WithCancel(ctx)
			go func() { ended <- th.Run(ctx) }()
			pass(d)
			s := th.Snapshot()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			return s
		}
		if s := runFor(30 * time.Second); s.Writes.PID.Output < 0.2 {
			t.Fatalf("in the storm: %+v", s.Writes)
		}
		p.says(0.8)
		pass(time.Second)
		if s := runFor(150 * time.Millisecond); s.Writes.Emergency || s.Writes.Pace != (throttle.Pace{}) {
			t.Errorf("one tick at ease: %+v, with %+v", s.Writes.Pace, s.Writes.PID)
		}
	})
}

// Without a monitor the laws that were asked for go by the latency target.
func TestLawsWithoutAMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th, err := throttle.New(throttle.Config{Writes: throttle.Side{
			LatencyTarget: 10 * time.Millisecond,
			Laws:          []throttle.LoadLaw{throttle.LinearRefusal{Soft: 0.5, Hard: 1}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = th.Run(ctx) }()
		for range 100 {
			_ = th.Do(t.Context(), throttle.Write, 1, func(context.Context) error {
				time.Sleep(20 * time.Millisecond)
				return nil
			})
		}
		if s := th.Snapshot().Writes; s.Degraded || s.Limiter.Refused[weir.ReasonOverload] == 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A drain law has nothing to go by without a source that reports a drain: it would pace nothing,
// and not say so.
func TestDrainRateWantsADrain(t *testing.T) {
	without, err := load.New(load.Config{Feeds: []load.Feed{{Source: &load.Memory{}}}})
	if err != nil {
		t.Fatal(err)
	}
	with, err := load.New(load.Config{Feeds: []load.Feed{{Source: &load.Memory{}}, {Source: tree()}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		monitor *load.Monitor
		want    error
	}{{nil, throttle.ErrConfig}, {without, throttle.ErrConfig}, {with, nil}} {
		_, err := throttle.New(throttle.Config{Monitor: c.monitor, Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
		if !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
}

// A source whose numbers are beyond all sense neither ends the program nor unpaces it for good.
func TestAbsurdDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		drained, backlog := 0.0, 8.0
		p.become(func() (load.Sample, error) {
			drained++
			return load.Sample{Drain: &load.Drain{Drained: drained, Backlog: backlog, Target: 9}}, nil
		})
		r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
		r.closedLoop(4, 10*time.Millisecond, 5*time.Second)
		before := r.Snapshot().Writes.Pace.Rate
		p.become(func() (load.Sample, error) {
			return load.Sample{Drain: &load.Drain{Drained: math.MaxFloat64, Backlog: math.MaxFloat64, Target: 9}}, nil
		})
		r.closedLoop(4, 10*time.Millisecond, 5*time.Second)
		if rate := r.Snapshot().Writes.Pace.Rate; before == 0 || math.IsInf(rate, 0) || math.IsNaN(rate) {
			t.Errorf("a pace of %v, then of %v", before, rate)
		}
	})
}

func TestOffChecksWhatItIsGiven(t *testing.T) {
	th, err := throttle.New(throttle.Config{Off: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.Start(t.Context(), throttle.Write, -1); !errors.Is(err, throttle.ErrConfig) {
		t.Errorf("cost -1: %v", err)
	}
	if _, err := th.Start(t.Context(), throttle.Op(7), 1); !errors.Is(err, throttle.ErrConfig) {
		t.Errorf("operation 7: %v", err)
	}
}
