package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// The bound of the default Concurrency starts with four at once, so a few wait at first.
func TestNothingIsPacedAtEase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.3)
		r := run(t, p, throttle.Config{})
		if got := r.closedLoop(10, 10*time.Millisecond, 5*time.Second); got < 4_900 {
			t.Errorf("%d writes in 5 s, want all 5000", got)
		}
		if s := r.Snapshot(); s.Writes.Pace != (throttle.Pace{}) || s.Writes.Throttled > 20 || s.Writes.Degraded {
			t.Errorf("%+v", s.Writes)
		}
	})
}

// memory is a plant that fills by writes and drains at a constant rate.
func memory(drain float64) *plant {
	p := &plant{}
	level, last := 0.0, time.Now()
	p.poll = func() (load.Sample, error) {
		dt := time.Since(last).Seconds()
		last = time.Now()
		level = max(0, level+(p.taken()-drain*dt)/2_500)
		return sampled(level), nil
	}
	return p
}

func TestPIDHoldsTheSetpoint(t *testing.T) {
	for _, writers := range []int{20, 200} {
		synctest.Test(t, func(t *testing.T) {
			r := run(t, memory(500), throttle.Config{})
			r.closedLoop(writers, 10*time.Millisecond, 60*time.Second)
			worst := 0.0
			writes := int64(0)
			for range 20 {
				writes += r.closedLoop(writers, 10*time.Millisecond, time.Second)
				worst = max(worst, math.Abs(r.Snapshot().Writes.Level.Load-0.85))
			}
			if worst > 0.1 {
				t.Errorf("%d writers: load off the setpoint by %v, want at most 0.1", writers, worst)
			}
			if writes < 9_000 || writes > 11_000 {
				t.Errorf("%d writers: %d writes in 20 s, want the 10000 that drain, however many write", writers, writes)
			}
		})
	}
}

// A lsm is a plant that digests in pieces: a table for each 100 writes, merged four at a
// time at a rate of 5 a second. It stalls at 15.
type lsm struct {
	plant
	limit  float64 // its reported stall
	stuck  atomic.Bool
	tables atomic.Int64 // as last reported
}

func tree() *lsm {
	p := &lsm{}
	written, tables, drained, credit, last := 0.0, 0.0, 0.0, 0.0, time.Now()
	p.poll = func() (load.Sample, error) {
		dt := time.Since(last).Seconds()
		last = time.Now()
		written += p.taken()
		for written >= 100 {
			written -= 100
			tables++
		}
		if tables >= 5 && !p.stuck.Load() {
			credit += 5 * dt
		}
		for ; credit >= 4; credit -= 4 {
			tables -= 4
			drained += 4
		}
		p.tables.Store(int64(tables))
		s := sampled(tables / 15)
		s.Drain = &load.Drain{Drained: drained, Backlog: tables, Target: 9, Limit: p.limit}
		return s, nil
	}
	return p
}

func TestDrainRateFollowsTheStore(t *testing.T) {
	for _, writers := range []int{20, 200} {
		synctest.Test(t, func(t *testing.T) {
			r := run(t, &tree().plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
			r.closedLoop(writers, 10*time.Millisecond, 20*time.Second)
			stalled := 0
			writes := int64(0)
			for range 60 {
				writes += r.closedLoop(writers, 10*time.Millisecond, 500*time.Millisecond)
				if r.Snapshot().Writes.Level.Load >= 1 {
					stalled++
				}
			}
			if stalled > 0 {
				t.Errorf("%d writers: at the stall in %d of 60 samples", writers, stalled)
			}
			if writes < 13_500 || writes > 16_500 {
				t.Errorf("%d writers: %d writes in 30 s, want about the 15000 that are digested", writers, writes)
			}
		})
	}
}

// TestDrainRateBrakesBeforeTheLimit: when the store no longer digests, the mean of its
// backlog shows it too late.
func TestDrainRateBrakesBeforeTheLimit(t *testing.T) {
	for _, limit := range []float64{0, 14} { // of 15: a table more is always about to arrive
		synctest.Test(t, func(t *testing.T) {
			store := tree()
			store.limit = limit
			r := run(t, &store.plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
			r.closedLoop(200, 10*time.Millisecond, 20*time.Second)
			most := int64(0)
			store.stuck.Store(true)
			for range 30 {
				r.closedLoop(200, 10*time.Millisecond, 100*time.Millisecond)
				most = max(most, store.tables.Load())
			}
			if knows, stalled := limit > 0, most >= 15; knows == stalled {
				t.Errorf("with a limit of %v there were %d tables", limit, most)
			}
		})
	}
}

func TestLinearRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.95)
		r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LinearRefusal{Soft: 0.9, Hard: 1.1}}}})
		for _, want := range []struct{ load, refused float64 }{{0.95, 0.25}, {0.9, 0}, {0.2, 0}, {1.1, 1}, {3, 1}, {1, 0.5}} {
			p.says(want.load)
			pass(300 * time.Millisecond)
			refused := 0.0
			for range 100 {
				op, err := r.Start(t.Context(), throttle.Write, 1)
				var why *weir.RefusedError
				if errors.As(err, &why) && why.Reason == weir.ReasonOverload && errors.Is(err, weir.ErrRefused) {
					refused++
				}
				op.Done(nil)
			}
			if math.Abs(refused-100*want.refused) > 1 {
				t.Errorf("at a load of %v: %v%% refused, want %v", want.load, refused, 100*want.refused)
			}
		}
	})
}

func TestReadsAndWritesApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.become(func() (load.Sample, error) {
			return load.Sample{Readings: []load.Reading{
				{Name: "tables", Value: 2, Limit: 1, Scope: load.Writes},
				{Name: "cache", Value: 0.1, Limit: 1, Scope: load.Reads},
			}}, nil
		})
		r := run(t, p, throttle.Config{})
		pass(20 * time.Second)
		s := r.Snapshot()
		if s.Writes.Pace.Rate == 0 || s.Reads.Pace.Rate != 0 {
			t.Errorf("writes %+v, reads %+v: want only writes paced", s.Writes.Pace, s.Reads.Pace)
		}
	})
}

func TestLatencyTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0)
		r := run(t, p, throttle.Config{Writes: throttle.Side{LatencyTarget: 10 * time.Millisecond}})
		r.closedLoop(20, 30*time.Millisecond, 5*time.Second)
		if s := r.Snapshot().Writes; s.Pace.Rate == 0 || s.Load < 2 {
			t.Errorf("30 ms against a target of 10: pace %+v at a load of %v", s.Pace, s.Load)
		}
	})
}

// A stall completes nothing, so only the age of running operations shows it.
func TestLatencyTargetSeesAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0)
		r := run(t, p, throttle.Config{Writes: throttle.Side{LatencyTarget: 10 * time.Millisecond}})
		op, err := r.Start(t.Context(), throttle.Write, 1)
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		if s := r.Snapshot().Writes; s.Pace.Rate == 0 {
			t.Errorf("one write stuck for 1 s: pace %+v at a load of %v", s.Pace, s.Load)
		}
		op.Done(nil)
	})
}

func TestStartIsCancellableAndKnowsDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(5)
		r := run(t, p, throttle.Config{Writes: throttle.Side{Queue: weir.Queue{Timeout: time.Hour}}})
		pass(30 * time.Second) // the slowest pace
		for range 5 {
			go func() {
				op, _ := r.Start(t.Context(), throttle.Write, 1)
				op.Done(nil)
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := r.Start(ctx, throttle.Write, 1); !errors.Is(err, weir.ErrDeadline) || time.Since(began) > 0 {
			t.Errorf("a deadline that cannot be met: %v after %v", err, time.Since(began))
		}
		cause := errors.New("client gone")
		ctx2, cancel2 := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel2(cause) })
		if _, err := r.Start(ctx2, throttle.Write, 1); !errors.Is(err, cause) || errors.Is(err, weir.ErrRefused) {
			t.Errorf("cancelled: %v", err)
		}
		if got := time.Since(began); got != 100*time.Millisecond {
			t.Errorf("cancelled after %v", got)
		}
		if s := r.Snapshot().Writes; s.Limiter.Cancelled == 0 {
			t.Error("not counted")
		}
	})
}

func TestThrottledIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(5)
		r := run(t, p, throttle.Config{Writes: throttle.Side{Queue: weir.Queue{Timeout: time.Hour}}})
		pass(time.Minute)
		before := time.Now()
		for range 5 {
			if err := r.Do(t.Context(), throttle.Write, 1, func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		s := r.Snapshot().Writes
		if s.Throttled < 4 || s.ThrottleTime != time.Since(before) || s.Cost != 5 {
			t.Errorf("%d throttled for %v in %v", s.Throttled, s.ThrottleTime, time.Since(before))
		}
		if s.PID.Output != 1 || s.PID.P <= 0 || s.Pace.Rate < 0.99 || s.Pace.Rate > 1.01 {
			t.Errorf("terms %+v, pace %+v: want the slowest of 1/s", s.PID, s.Pace)
		}
	})
}

func TestOffIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(50)
		r := run(t, p, throttle.Config{Off: true})
		pass(10 * time.Second)
		began := time.Now()
		for range 1000 {
			if err := r.Do(t.Context(), throttle.Write, 1, func(context.Context) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(began) > 0 || !r.Snapshot().Off {
			t.Error("it was held up")
		}
		r.stop()
		for range 2 {
			if err := <-r.ended; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestPanicCountsAsFailure(t *testing.T) {
	th, err := throttle.New(throttle.Config{})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = th.Do(t.Context(), throttle.Read, 1, func(context.Context) error { panic("bug") })
	}()
	if s := th.Snapshot().Reads.Limiter; s.Failed != 1 || s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
}

func TestDoSeesThroughTheCause(t *testing.T) {
	th, err := throttle.New(throttle.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("client gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	err = th.Do(ctx, throttle.Read, 1, func(ctx context.Context) error {
		cancel(cause)
		return fmt.Errorf("query: %w", context.Cause(ctx))
	})
	if s := th.Snapshot().Reads.Limiter; !errors.Is(err, cause) || s.Failed != 0 || s.Ignored != 1 {
		t.Errorf("%v: %d failed, %d ignored", err, s.Failed, s.Ignored)
	}
}

// Work that ends its goroutine did not succeed.
func TestGoexitCountsAsFailure(t *testing.T) {
	th, err := throttle.New(throttle.Config{})
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan bool)
	go func() {
		defer close(gone)
		_ = th.Do(context.Background(), throttle.Read, 1, func(context.Context) error {
			runtime.Goexit()
			return nil
		})
	}()
	<-gone
	if s := th.Snapshot().Reads.Limiter; s.Failed != 1 || s.Samples != 0 || s.InFlight != 0 {
		t.Errorf("%d failed, %d succeeded, %d in flight: want one failure", s.Failed, s.Samples, s.InFlight)
	}
}
