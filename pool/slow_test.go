package pool_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
)

var (
	phase = flag.Duration("phase", time.Minute, "how long a phase of TestDownstreamThatSlowsDown lasts")
	seeds = flag.Uint64("seeds", 1, "how many it tries")
)

// A downstream runs work in its slots, first come first served; other work waits. In the second
// of three phases all work takes longer.
type downstream struct {
	slots   int
	takes   time.Duration // on average
	slower  float64       // by which factor in the second phase
	timeout time.Duration // of a job, with its wait
}

// A trial is a downstream at work, and its counts by phase.
type trial struct {
	downstream
	free  chan struct{}
	began time.Time

	mu   sync.Mutex
	rng  *rand.Rand
	done [3]int
	late [3]int
}

func (d *trial) phase() int { return min(int(time.Since(d.began) / *phase), 2) }

// serve does a job.
func (d *trial) serve(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	began := d.phase()
	err := d.try(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.done[d.phase()]++
	} else {
		d.late[began]++
	}
	return err
}

func (d *trial) try(ctx context.Context) error {
	select {
	case d.free <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.free }()
	d.mu.Lock()
	takes := (0.5 + d.rng.Float64()) * float64(d.takes)
	d.mu.Unlock()
	if d.phase() == 1 {
		takes *= d.slower
	}
	select {
	case <-time.After(time.Duration(takes)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try runs endless jobs through workers for three phases.
func (d downstream) try(t *testing.T, workers int, size int, scaler pool.Scaler, seed uint64) (r *trial) {
	synctest.Test(t, func(t *testing.T) {
		r = &trial{
			downstream: d, free: make(chan struct{}, d.slots), began: time.Now(), rng: rand.New(rand.NewPCG(seed, 0)),
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3**phase)
		defer cancel()
		together.Do(workers, func(int) {
			c := must.Have(capacity.New(capacity.Vector{"slots": int64(size)}))(t)
			source := pool.Seq(func(yield func(pool.Task) bool) {
				for yield(pool.Task{Run: func(ctx context.Context) (any, error) { return nil, r.serve(ctx) }}) {
				}
			})
			for range must.Have(pool.New(pool.Config{Capacity: c, Source: source, Scaler: scaler}))(t).Run(ctx) {
			}
		})
	})
	return r
}

// of is the share of another's throughput in a phase.
func (d *trial) of(other *trial, phase int) float64 {
	return float64(d.done[phase]) / float64(other.done[phase])
}

// lateness is the share of jobs that timed out in the phases.
func (d *trial) lateness(phases ...int) float64 {
	late, all := 0, 0
	for _, i := range phases {
		late, all = late+d.late[i], all+d.late[i]+d.done[i]
	}
	return float64(late) / float64(all)
}

// TestDownstreamThatSlowsDown: a downstream slows down and comes back. Workers that know nothing of
// each other do about as much in each phase as the best fixed size, and hardly a job times out,
// where five times that size loses many. The scaler was chosen on the first downstream, from about
// twenty; the other two were tried afterwards, and long jobs have it climb too slowly.
//
//	scripts/all go test ./pool -run SlowsDown -v -seeds 5 -phase 3m
func TestDownstreamThatSlowsDown(t *testing.T) {
	longtest.Skip(t)
	race.Skip(t, "takes long under the race detector, and shares nothing that the other tests do not")
	for _, test := range []struct {
		name string
		downstream
		least float64 // of the best fixed size in any phase
	}{
		{"20 slots", downstream{20, 100 * time.Millisecond, 10. / 3, time.Second}, 0.95},
		{"quick jobs", downstream{12, 40 * time.Millisecond, 2, 400 * time.Millisecond}, 0.95},
		{"long jobs", downstream{40, 500 * time.Millisecond, 4, 5 * time.Second}, 0.5},
	} {
		sizing := pool.MinOf{
			pool.ByLaw{Law: law.Little{}, Initial: 10},
			pool.ByLaw{Law: law.Band{Target: test.timeout / 2, MaxErrorRate: 0.01, Proportional: true}, Initial: 20},
		}
		for _, workers := range []int{1, 4} {
			for seed := range *seeds {
				best := test.try(t, workers, test.slots/workers, nil, seed)
				fixed := test.try(t, workers, 5*test.slots/workers, nil, seed)
				usual := test.try(t, workers, 5*test.slots, pool.ByLaw{}, seed)
				sized := test.try(t, workers, 5*test.slots, sizing, seed)
				t.Logf("%s, %d workers, seed %d: %.2f, %.2f and %.2f of the best fixed size, %.2f%% time out; "+
					"of five times that size %.2f, %.2f and %.2f, and %.0f%% while it is slow; "+
					"of the default law %.2f, %.2f and %.2f, and %.0f%% while it is slow",
					test.name, workers, seed, sized.of(best, 0), sized.of(best, 1), sized.of(best, 2),
					100*sized.lateness(0, 1, 2), fixed.of(best, 0), fixed.of(best, 1), fixed.of(best, 2), 100*fixed.lateness(1),
					usual.of(best, 0), usual.of(best, 1), usual.of(best, 2), 100*usual.lateness(1))
				for i := range sized.done {
					if sized.of(best, i) < test.least {
						t.Errorf("phase %d: %.2f of the best fixed size, want %.2f", i, sized.of(best, i), test.least)
					}
				}
				if sized.lateness(0, 1, 2) > 0.015 || fixed.lateness(1) < 0.2 {
					t.Error("too many jobs time out, or five times the best size is no problem")
				}
			}
		}
	}
}

// TestReaderThatIsAwayHoldsNothing: others may use the capacity, and decisions do not pile up.
func TestReaderThatIsAwayHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := slots(1)
		other := must.Have(c.TryAcquire(must.Have(c.Request(capacity.Vector{"slots": 1}))(t)))(t)
		time.AfterFunc(time.Minute, other.Release)
		away := sync.OnceFunc(func() {
			time.Sleep(time.Hour)
			if state := c.Snapshot(); state.Grants > 0 || state.Waiting > 0 {
				t.Errorf("%+v", state)
			}
		})
		r := run(t, pool.Config{
			Capacity: c, Source: pool.Slice(tasks(5, time.Second)), Buffer: 1, Scaler: pool.ByBacklog{},
		}, func(*pool.Pool, pool.Event) { away() })
		if len(r.events) != 5 {
			t.Errorf("%d of 5 events", len(r.events))
		}
		if n := len(r.all) - len(r.events); n > 100 {
			t.Errorf("%d decisions have waited for the reader", n)
		}
	})
}

// TestReportWaitsForTheReader: a task that reports faster than its reports are read is held back.
func TestReportWaitsForTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, reported := time.Now(), time.Duration(0)
		r := run(t, pool.Config{
			Capacity: slots(1), Buffer: 2,
			Source: pool.Slice([]pool.Task{{Key: "a", Run: func(ctx context.Context) (any, error) {
				for i := range 10 {
					pool.Report(ctx, i)
				}
				reported = time.Since(began)
				return nil, nil
			}}}),
		}, func(*pool.Pool, pool.Event) { time.Sleep(time.Second) })
		if r.count(pool.Progress) != 10 || reported < 5*time.Second {
			t.Errorf("%d reports, all sent after %v: want 10, when half of them were read at least", r.count(pool.Progress), reported)
		}
	})
}

// TestReportAfterTheTask: a goroutine that a task has left behind reports nothing.
func TestReportAfterTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, pool.Config{
			Capacity: slots(2), Source: pool.Slice([]pool.Task{
				{Key: "a", Run: func(ctx context.Context) (any, error) {
					time.AfterFunc(time.Second, func() { pool.Report(ctx, "late") })
					return nil, nil
				}},
				{Key: "b", Run: func(context.Context) (any, error) { time.Sleep(time.Minute); return nil, nil }},
			}),
		})
		r.expect(t, "a done, b done", nil)
	})
}

// TestReportWaitsForNoLease: a source that is slow to settle holds up starts, not reports.
func TestReportWaitsForNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := stub{acknowledge: func() error { time.Sleep(20 * time.Second); return nil }}
		var reported time.Duration
		source := lent(lease, 0, pool.Task{Key: "reports", Run: func(ctx context.Context) (any, error) {
			time.Sleep(time.Second)
			began := time.Now()
			pool.Report(ctx, "half")
			reported = time.Since(began)
			return nil, nil
		}}, task("a", time.Millisecond, nil), task("b", time.Millisecond, nil))
		r := run(t, pool.Config{Capacity: slots(2), Source: source, Buffer: 2})
		if r.count(pool.Done) != 3 || r.count(pool.Progress) != 1 || reported > 0 {
			t.Errorf("%v, and the report took %v: want it at once", r.events, reported)
		}
	})
}
