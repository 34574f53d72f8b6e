package pool_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

func TestAgeScaler(t *testing.T) {
	sizer := must.Have(pool.ByAge{High: time.Minute, Low: 20 * time.Second, Per: time.Minute, Initial: 2}.Sizer(6))(t)
	size := sizer.Plan().Initial
	for i, test := range []struct {
		depth pool.Depth
		want  string
	}{
		{pool.Depth{Count: 1, Oldest: 61 * time.Second}, "3: oldest task waits 61 s above 60 s"},
		{pool.Depth{Count: 1, Oldest: 3 * time.Minute}, "6: oldest task waits 180 s above 60 s"},
		{pool.Depth{Count: 1, Oldest: 3 * time.Minute}, "6: oldest task waits 180 s, size at its bound"},
		{pool.Depth{Count: 1, Oldest: time.Minute}, "6: oldest task waits 60 s between the marks"},
		{pool.Depth{Count: 9}, "6: age of the oldest task unknown"},
		{pool.Depth{Count: 9, Oldest: time.Second}, "5: oldest task waits 1 s below 20 s"},
		{pool.Depth{}, "4: oldest task waits 0 s below 20 s"},
	} {
		var why pool.Reason
		size, why = sizer.Next(pool.Observation{Size: size, Backlog: test.depth, Elapsed: time.Duration(i) * time.Second})
		if got := fmt.Sprintf("%d: %v", size, why); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// TestLeastOfAllSignals: depth, age, processor, a percentile of the latency; the reason is that of
// the signal which holds the size down.
func TestLeastOfAllSignals(t *testing.T) {
	cpu := 0.5
	sizer := must.Have(pool.MinOf{
		pool.ByBacklog{Initial: 4},
		pool.ByAge{Initial: 4},
		pool.ByLoad{Signal: "cpu", Initial: 4, Measure: func() (float64, bool) { return cpu, true }},
		pool.ByLaw{Law: law.Band{Target: time.Second, Quantile: 0.5}, Initial: 4},
	}.Sizer(8))(t)
	for _, test := range []struct {
		depth pool.Depth
		cpu   float64
		want  string
	}{
		{pool.Depth{Count: 50, Oldest: time.Minute}, 0.95, "3 cpu 0.95 above 0.85"},
		{pool.Depth{Count: 50, Oldest: time.Second}, 0.5, "3 oldest task waits 1 s below 4 s"},
		{pool.Depth{Count: 2, Oldest: time.Minute}, 0.5, "3 backlog 2 below 4"},
		{pool.Depth{Count: 50, Oldest: time.Minute}, 0.5, "4 latency unknown"}, // nothing ran, and all others rise
	} {
		cpu = test.cpu
		size, why := sizer.Next(pool.Observation{Size: 4, Backlog: test.depth})
		if got := fmt.Sprintf("%d %v", size, why); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
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
				var tasks []pool.Task
				for i := range 4000 {
					tasks = append(tasks, task(fmt.Sprint(i), 10*time.Second, nil))
				}
				source := sourcetest.NewMemory(time.Minute, tasks)
				var workers sync.WaitGroup
				for range 4 {
					workers.Go(func() {
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
				}
				workers.Wait()
			})
		})
	}
}
