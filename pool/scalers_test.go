package pool_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

// A step is an observation, a second after the one before, and the decision on it. It has the size
// of the decision before, if none is given.
type step struct {
	pool.Observation
	want string
}

// waiting is a step with so many tasks that wait.
func waiting(count int64, oldest time.Duration, want string) step {
	return step{pool.Observation{Backlog: pool.Depth{Count: count, Oldest: oldest}}, want}
}

// series is a signal that has these values, one after the other. A negative one is not valid.
func series(values ...float64) func() (float64, bool) {
	return func() (float64, bool) {
		value := values[0]
		values = values[1:]
		return value, value >= 0
	}
}

// TestScalers: the reason of a decision is that of the signal which holds the size down.
func TestScalers(t *testing.T) {
	for _, test := range []struct {
		name   string
		scaler pool.Scaler
		steps  []step
	}{
		{"marks", pool.ByBacklog{High: 10, Low: 4, Initial: 3, Min: 2}, []step{
			waiting(11, 0, "4: backlog 11 above 10"),
			waiting(10, 0, "4: backlog 10 between the marks"),
			waiting(4, 0, "4: backlog 4 between the marks"),
			waiting(3, 0, "3: backlog 3 below 4"),
			waiting(0, 0, "2: backlog 0 below 4"),
			waiting(0, 0, "2: backlog 0, size at its bound"),
		}},
		{"cooldown", pool.ByBacklog{Cooldown: 2 * time.Second}, []step{
			waiting(20, 0, "2: backlog 20 above 10"),
			waiting(20, 0, "2: backlog 20, too soon after the last change"),
			waiting(20, 0, "3: backlog 20 above 10"),
			waiting(0, 0, "3: backlog 0, too soon after the last change"),
		}},
		{"in proportion", pool.ByBacklog{Per: 5, Max: 6}, []step{
			waiting(11, 0, "2: backlog 11 above 10"), waiting(25, 0, "6: backlog 25 above 10"),
		}},
		{"lowest mark", pool.ByBacklog{High: 1, Initial: 2}, []step{
			waiting(1, 0, "2: backlog 1 between the marks"), waiting(0, 0, "1: backlog 0 below 0.4"),
		}},
		{"largest", pool.ByBacklog{Per: 1, Step: 2, Max: 6}, []step{waiting(1<<62, 0, "6: backlog 4.612e+18 above 10")}},
		{"what is not used because another resource is short is given up", pool.ByBacklog{}, []step{
			{pool.Observation{Size: 8, InUse: 5, Wanted: 1, Running: 5, Backlog: pool.Depth{Count: 20}}, "6: backlog 20, size not used"},
			{pool.Observation{Size: 6, InUse: 5, Wanted: 1, Running: 5, Backlog: pool.Depth{Count: 20}}, "6: backlog 20, size not used"},
			{pool.Observation{Size: 6, InUse: 5, Wanted: 2, Running: 5, Backlog: pool.Depth{Count: 20}}, "7: backlog 20 above 10"},
			{pool.Observation{Size: 6, Wanted: 1, Backlog: pool.Depth{Count: 20}}, "7: backlog 20 above 10"}, // nothing has started yet
		}},
		{"age", pool.ByAge{High: time.Minute, Low: 20 * time.Second, Per: time.Minute, Initial: 2, Max: 6}, []step{
			waiting(1, 61*time.Second, "3: oldest task waits 61 s above 60 s"),
			waiting(1, 3*time.Minute, "6: oldest task waits 180 s above 60 s"),
			waiting(1, 3*time.Minute, "6: oldest task waits 180 s, size at its bound"),
			waiting(1, time.Minute, "6: oldest task waits 60 s between the marks"),
			waiting(9, 0, "6: age of the oldest task unknown"),
			waiting(9, time.Second, "5: oldest task waits 1 s below 20 s"),
			waiting(0, 0, "4: oldest task waits 0 s below 20 s"),
		}},
		{"load", pool.ByLoad{Measure: series(0.9, 0.9, 0.6, 0.4, 0.4, -1, -1, -1), High: 0.8, Low: 0.5, Initial: 2}, []step{
			{pool.Observation{Size: 5, Backlog: pool.Depth{Count: 1}}, "4: load 0.9 above 0.8"},
			waiting(1, 0, "3: load 0.9 above 0.8"),
			waiting(1, 0, "3: load 0.6 between the marks"),
			waiting(1, 0, "4: load 0.4 below 0.5"),
			waiting(0, 0, "4: load 0.4 between the marks"), // it would not be used
			waiting(9, 0, "3: load unknown"),
			waiting(9, 0, "2: load unknown"),
			waiting(9, 0, "2: load unknown"),
		}},
		{"least", pool.MinOf{
			pool.ByBacklog{Initial: 4},
			pool.ByAge{Initial: 4},
			pool.ByLoad{Signal: "cpu", Initial: 4, Measure: series(0.95, 0.5, 0.5, 0.5)},
			pool.ByLaw{Law: law.Band{Target: time.Second, Quantile: 0.5}, Initial: 4},
		}, []step{
			{pool.Observation{Size: 4, Backlog: pool.Depth{Count: 50, Oldest: time.Minute}}, "3: cpu 0.95 above 0.85"},
			{pool.Observation{Size: 4, Backlog: pool.Depth{Count: 50, Oldest: time.Second}}, "3: oldest task waits 1 s below 4 s"},
			{pool.Observation{Size: 4, Backlog: pool.Depth{Count: 2, Oldest: time.Minute}}, "3: backlog 2 below 4"},
			{pool.Observation{Size: 4, Backlog: pool.Depth{Count: 50, Oldest: time.Minute}}, "4: latency unknown"}, // nothing ran, and all others rise
		}},
	} {
		sizer := must.Have(test.scaler.Sizer(9))(t)
		size := sizer.Plan().Initial
		for i, step := range test.steps {
			step.Size, step.Elapsed = cmp.Or(step.Size, size), time.Duration(i)*time.Second
			var why pool.Reason
			size, why = sizer.Next(step.Observation)
			if got := fmt.Sprintf("%d: %v", size, why); got != step.want {
				t.Errorf("%s: got %s, want %s", test.name, got, step.want)
			}
		}
	}
}

// The tasks that a pool has claimed are young. Those of a source that does not know their age may
// be old.
func TestAgeThatTheSourceDoesNotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := make(chan pool.Task, 200)
		for range cap(tasks) {
			tasks <- task("", time.Second, nil)
		}
		close(tasks)
		r := run(t, pool.Config{Capacity: slots(6), Source: pool.Chan(tasks), Scaler: pool.ByAge{Initial: 4, High: 30 * time.Second}})
		for _, d := range r.decided() {
			if inSource := d.Backlog.Count - 64; inSource > 0 && d.To < d.From {
				t.Fatalf("%v, with %d in the source", d, inSource)
			}
		}
	})
}

// TestBurst: a hundred times the usual tasks come at once. Each of four workers on one source has
// its full size within five periods.
func TestBurst(t *testing.T) {
	for name, scaler := range map[string]pool.Scaler{
		"depth": pool.ByBacklog{Per: 10, Min: 2},
		"depth and age": pool.MinOf{
			pool.ByBacklog{Per: 10, Min: 2}, pool.ByAge{High: time.Second, Per: 50 * time.Millisecond, Min: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := sourcetest.NewMemory(time.Minute, tasks(4000, 10*time.Second))
				together.Do(4, func(int) {
					c := must.Have(capacity.New(capacity.Vector{"slots": 64}))(t)
					var sizes []int64
					for ev := range must.Have(pool.New(pool.Config{Capacity: c, Source: source, Scaler: scaler}))(t).Run(t.Context()) {
						if ev.Kind == pool.Decided {
							sizes = append(sizes, ev.Decision.To)
						}
					}
					if at := slices.Index(sizes, 64); at < 0 || at >= 5 {
						t.Errorf("full size at decision %d: %v", at+1, sizes[:8])
					} else {
						t.Logf("full size of 64 at decision %d", at+1)
					}
				})
			})
		})
	}
}

// TestBadPlans: the plans of a user's scaler are checked.
func TestBadPlans(t *testing.T) {
	scalers := []pool.Scaler{
		noSizer{},
		pool.MinOf{noSizer{}},
		pool.MinOf{nil},
		pool.ByLaw{Law: noController{}},
		pool.ByLaw{MinSamples: math.MaxInt}, // does not fit 32 bits
		pool.ByLaw{Law: hostileLaw(func() { panic("new") })},
	}
	for _, plan := range []pool.Plan{
		{Initial: 1, Min: 1, Max: 1},
		{Initial: 1, Min: 1, Max: 1, Period: -1},
		{Initial: 1, Min: 2, Max: 3, Period: 1},
		{Initial: 1, Min: -1, Max: 3, Period: 1},
		{Initial: 4, Min: 1, Max: 4, Period: 1},
	} {
		scaler := hostileScaler{func() pool.Plan { return plan }, func() {}}
		scalers = append(scalers, scaler, pool.MinOf{scaler})
	}
	for i, s := range scalers {
		if p, err := pool.New(pool.Config{Capacity: slots(3), Source: pool.Slice(nil), Scaler: s}); p != nil || !errors.Is(err, pool.ErrConfig) {
			t.Errorf("scaler %d, %T: %v, %v", i, s, p, err)
		}
	}
}

type noSizer struct{}

func (noSizer) Sizer(int64) (pool.Sizer, error) { return nil, nil }

type noController struct{}

func (noController) Controller(law.Bounds) (law.Controller, error) { return nil, nil }

// TestQuickScaler: however often a scaler wants to be asked, tasks run.
func TestQuickScaler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := hostileScaler{
			func() pool.Plan { return pool.Plan{Initial: 2, Min: 1, Max: 3, Period: 1} },
			func() { asked++ },
		}
		r := run(t, pool.Config{Capacity: slots(3), Source: pool.Slice(three(nil)), Scaler: s})
		slices.Sort(r.events)
		r.expect(t, "1 done, 2 done, 3 done", nil)
		if asked > 10_000 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// TestBacklogRunRisesAndFallsOneStepATick: 24 jobs of 80 to 300 ms over 6 slots, 3 at first.
func TestBacklogRunRisesAndFallsOneStepATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := slots(6)
		random := rand.New(rand.NewPCG(20, 20))
		var tasks []pool.Task
		for range 24 {
			takes := 80*time.Millisecond + time.Duration(random.Int64N(int64(220*time.Millisecond)))
			tasks = append(tasks, pool.Task{Run: func(context.Context) (any, error) { time.Sleep(takes); return nil, nil }})
		}
		scaler := pool.ByBacklog{High: 10, Low: 4, Min: 2, Initial: 3, Period: 200 * time.Millisecond}
		began := time.Now()
		r := run(t, pool.Config{Capacity: c, Source: pool.Slice(tasks), Scaler: scaler})
		decisions, done := r.changes(), r.count(pool.Done)
		t.Logf("%d jobs took %v:\n%s", done, time.Since(began), strings.Join(decisions, "\n"))
		want := []string{
			"slots: backlog 24 above 10: raised 3 to 4", "slots: backlog 17 above 10: raised 4 to 5", "slots: backlog 11 above 10: raised 5 to 6",
			"slots: backlog 0 below 4: cut 6 to 5", "slots: backlog 0 below 4: cut 5 to 4",
		}
		if free := c.Resource("slots").Available; r.err != nil || !slices.Equal(decisions, want) || done != 24 || free != 6 {
			t.Errorf("%d jobs done, %d slots free at the end, decisions\n%q, want 24, 6 and\n%q", done, free, decisions, want)
		}
	})
}
