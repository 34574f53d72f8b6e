package throttle_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/throttle"
)

// A cost of 10 takes ten turns of the pace, priorities count, and a full queue refuses.
func TestPriorityAndCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 5, throttle.Config{Writes: throttle.Side{Queue: weir.Queue{Size: 2, Timeout: time.Hour}}})
		pass(30 * time.Second)
		op := must.Have(r.Acquire(t.Context(), throttle.Write, 10))(t) // 10 s of the pace
		op.Done(nil)
		began := time.Now()
		var order []string
		for _, c := range []struct {
			name     string
			priority weir.Priority
		}{{"low", weir.PriorityLow}, {"high", weir.PriorityHigh}} {
			go func() {
				op, err := r.Acquire(weir.WithPriority(t.Context(), c.priority), throttle.Write, 1)
				order = append(order, c.name)
				op.Done(err)
			}()
			synctest.Wait()
		}
		if _, err := r.Acquire(weir.WithPriority(t.Context(), weir.PriorityLow), throttle.Write, 1); !errors.Is(err, weir.ErrQueueFull) {
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

// The cost never falls below nothing while operations that were charged too much are corrected.
func TestCostWhileItIsCorrected(t *testing.T) {
	const callers, each, charged = 4, 500, 1_000_000
	for range 20 {
		th := throttled(t, throttle.Config{})
		var working atomic.Int64
		working.Store(callers)
		together.Do(callers+1, func(i int) {
			if i == callers {
				for working.Load() > 0 {
					if got := th.Snapshot().Writes.Cost; got > callers*each*charged {
						t.Errorf("cost %d", got)
						return
					}
				}
				return
			}
			defer working.Add(-1)
			for range each {
				p, err := th.Acquire(t.Context(), throttle.Write, charged)
				if err := errors.Join(err, p.SetWeight(1)); err != nil {
					t.Error(err)
				}
				p.Done(nil)
			}
		})
	}
}

// A counter that falls counts as a restart in monitoring systems, and its total a second time.
func TestCostNeverFalls(t *testing.T) {
	th := throttled(t, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{}}}})
	first := must.Have(th.Acquire(t.Context(), throttle.Write, 10))(t)
	for _, c := range []struct {
		do   func()
		want uint64
	}{
		{func() {}, 10},
		{func() { must.Do(t, first.SetWeight(1)) }, 10},
		{func() { must.Have(th.Acquire(t.Context(), throttle.Write, 9))(t) }, 10},
		{func() { must.Have(th.Acquire(t.Context(), throttle.Write, 2))(t) }, 12},
	} {
		if c.do(); th.Snapshot().Writes.Cost != c.want {
			t.Errorf("a cost of %d, want %d", th.Snapshot().Writes.Cost, c.want)
		}
	}
}

func TestThrottledIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 5, throttle.Config{Writes: throttle.Side{Queue: weir.Queue{Timeout: time.Hour}}})
		must.Do(t, r.Do(t.Context(), throttle.Write, 1, func(context.Context) error { return nil })) // nothing paces yet
		if n := r.Snapshot().Writes.Throttled; n != 0 {
			t.Errorf("%d throttled before there is a pace", n)
		}
		pass(time.Minute)
		before := time.Now()
		for range 5 {
			must.Do(t, r.Do(t.Context(), throttle.Write, 1, func(context.Context) error { return nil }))
		}
		s := r.Snapshot().Writes
		if s.Throttled < 4 || s.ThrottleTime != time.Since(before) || s.Cost != 6 {
			t.Errorf("%d throttled for %v in %v", s.Throttled, s.ThrottleTime, time.Since(before))
		}
		if s.PID.Output != 1 || s.PID.P <= 0 || s.Pace.Rate < 0.99 || s.Pace.Rate > 1.01 {
			t.Errorf("terms %+v, pace %+v: want the slowest of 1/s", s.PID, s.Pace)
		}
	})
}
