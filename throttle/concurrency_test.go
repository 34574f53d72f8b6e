package throttle_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// A lockQueue is a database with one hot row: an operation works for a while beside the others,
// then holds the row. Each that waits for the row makes the one that has it slower, as a database's
// bookkeeping of its waiters does.
type lockQueue struct {
	plant
	beside, holds time.Duration
	drag          float64       // part of holds that each waiter adds
	row           chan struct{} // in order of arrival
	waiting       int           // under plant.mu
}

func hotRow() *lockQueue {
	q := &lockQueue{beside: 8 * time.Millisecond, holds: 2 * time.Millisecond, drag: 0.01, row: make(chan struct{}, 1)}
	q.poll = func() (load.Sample, error) {
		q.mu.Lock()
		defer q.mu.Unlock()
		return load.Sample{Actuator: load.ByConcurrency, Readings: []load.Reading{
			{Name: "waiting for a lock", Value: float64(q.waiting), Limit: 10, Scope: load.Writes},
		}}, nil
	}
	return q
}

func (q *lockQueue) count(by int) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting += by
	return q.waiting
}

func (q *lockQueue) write(context.Context) error {
	time.Sleep(q.beside)
	q.count(1)
	q.row <- struct{}{}
	time.Sleep(time.Duration(float64(q.holds) * (1 + q.drag*float64(q.count(-1)))))
	<-q.row
	return nil
}

// storm has 64 writers write until the time is over.
func (q *lockQueue) storm(r *rig, during time.Duration) {
	ctx, cancel := context.WithTimeout(r.t.Context(), during)
	defer cancel()
	together.Do(64, func(int) {
		for ctx.Err() == nil {
			if err := r.Do(context.WithoutCancel(ctx), throttle.Write, 1, q.write); err != nil {
				time.Sleep(10 * time.Millisecond)
			}
		}
	})
}

// A latency target is the law's budget: fewer wait for the row than otherwise.
func TestConcurrencyHoldsTheLatencyTarget(t *testing.T) {
	mean := func(target time.Duration) (sum int) {
		synctest.Test(t, func(t *testing.T) {
			q := hotRow()
			r := run(t, &q.plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.Concurrency{}}, LatencyTarget: target}})
			for range 15 {
				q.storm(r, time.Second)
				sum += r.Snapshot().Writes.MaxInFlight
			}
		})
		return sum / 15
	}
	if with, without := mean(22*time.Millisecond), mean(0); with >= without {
		t.Errorf("%d at once with a target of 22 ms, %d without: want fewer", with, without)
	}
}

// An operation that costs more than the bound runs alone, and the former bound returns.
func TestConcurrencyLetsTheHeaviestIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := hotRow()
		r := run(t, &q.plant, throttle.Config{})
		var writers sync.WaitGroup
		writers.Go(func() { q.storm(r, 30*time.Second) })
		for range 3 {
			pass(5 * time.Second)
			op := must.Have(r.Acquire(t.Context(), throttle.Write, 500))(t)
			if s := r.Snapshot().Writes; s.Limiter.InFlight != 500 {
				t.Errorf("%d in flight beside 500", s.Limiter.InFlight-500)
			}
			pass(100 * time.Millisecond)
			op.Done(nil)
			for range 50 {
				pass(100 * time.Millisecond)
				if got := r.Snapshot().Writes.MaxInFlight; got > 40 {
					t.Errorf("after the heaviest: at most %d at once", got)
				}
			}
		}
		writers.Wait()
	})
}

// Signals of both kinds each have their law: memory paces, and lock waits are left to the bound.
func TestEachSignalHasItsActuator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks := &plant{}
		locks.become(func() (load.Sample, error) {
			return load.Sample{Actuator: load.ByConcurrency, Readings: sampled(0.5).Readings}, nil
		})
		memory := &named{plant: &plant{}, name: "memory"}
		memory.says(0.95)
		r := run(t, locks, throttle.Config{}, memory)
		pass(20 * time.Second)
		if s := r.Snapshot().Writes; s.Pace.Rate == 0 || s.Load != 0.95 {
			t.Errorf("memory at 0.95: %+v, a load of %v", s.Pace, s.Load)
		}
		memory.says(0.2)
		locks.become(func() (load.Sample, error) {
			return load.Sample{Actuator: load.ByConcurrency, Readings: sampled(2).Readings}, nil
		})
		pass(time.Minute)
		if s := r.Snapshot().Writes; s.Pace.Rate != 0 || s.Emergency || s.Load != 0.2 {
			t.Errorf("locks at 2: %+v, a load of %v, emergency %v", s.Pace, s.Load, s.Emergency)
		}
		by := [...]float64{load.ByPace: 0.2, load.ByConcurrency: 2}
		for a, want := range by {
			got := r.Snapshot().Feeds.Level(load.Writes, func(f load.FeedSnapshot) bool { return int(f.Actuator) == a })
			if got.Load != want {
				t.Errorf("by %v: %+v, want %v", load.Actuator(a), got, want)
			}
		}
	})
}

// A named plant has a name of its own, for tests with several plants.
type named struct {
	*plant
	name string
}

func (n *named) Name() string { return n.name }
