package pools

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	concpool "github.com/sourcegraph/conc/pool"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/pool"
)

// most is the largest size of the pool, memory its memory.
const (
	most   = 16
	memory = 32
)

// A job arrives at a time, needs memory, and takes its duration multiplied by the slowdown
// of the downstream.
type job struct {
	at, takes time.Duration
	memory    int64
}

type workload struct {
	name string
	jobs []job
	slow func(at time.Duration, running int64) float64
}

// workloads returns workloads drawn from the first seed; nothing was tuned on them.
func workloads() []workload {
	random := rand.New(rand.NewPCG(1, 1))
	takes := func() time.Duration { return draw(random) }
	steady, burst, mixed := workload{name: "steady"}, workload{name: "burst"}, workload{name: "mixed"}
	for i := range 1200 {
		steady.jobs = append(steady.jobs, job{at: time.Duration(i) * 50 * time.Millisecond, takes: takes()})
	}
	for i := range 120 {
		at := time.Duration(i) * 500 * time.Millisecond
		n := 1
		if i >= 40 && i < 42 { // a second of 100 times as much
			n = 100
		}
		for range n {
			burst.jobs = append(burst.jobs, job{at: at, takes: takes()})
		}
	}
	for range 400 {
		mixed.jobs = append(mixed.jobs, job{takes: takes(), memory: 1 + random.Int64N(8)})
	}
	return []workload{steady, burst, mixed, degrading(random, downstream{8, 3, 8 * time.Second, 20 * time.Second})}
}

// draw returns the duration of a job without a slowdown.
func draw(random *rand.Rand) time.Duration {
	return 100*time.Millisecond + time.Duration(random.Int64N(int64(200*time.Millisecond)))
}

// A downstream has a number of workers, and fewer of them for a while.
type downstream struct {
	workers, fewer float64
	from, to       time.Duration
}

func degrading(random *rand.Rand, d downstream) workload {
	w := workload{name: fmt.Sprintf("degrading from %v workers to %v", d.workers, d.fewer)}
	for range 1200 {
		w.jobs = append(w.jobs, job{takes: draw(random)})
	}
	w.slow = func(at time.Duration, running int64) float64 {
		workers := d.workers
		if at > d.from && at < d.to {
			workers = d.fewer
		}
		return math.Pow(max(1, float64(running)/workers), 1.3) // beyond saturation, throughput falls with concurrency
	}
	return w
}

// A tally is the cost of a run: when it ended, and the slot-seconds held and used.
type tally struct{ took, held, busy time.Duration }

// A floor runs the jobs of a workload.
type floor struct {
	w       workload
	began   time.Time
	running atomic.Int64
	busy    atomic.Int64
}

func (f *floor) do(j job) {
	running := f.running.Add(1)
	defer f.running.Add(-1)
	takes := j.takes
	if f.w.slow != nil {
		takes = time.Duration(float64(takes) * f.w.slow(time.Since(f.began), running))
	}
	time.Sleep(takes)
	f.busy.Add(int64(takes))
}

// feed submits each job at its time.
func (f *floor) feed(submit func(job)) {
	for _, j := range f.w.jobs {
		time.Sleep(j.at - time.Since(f.began))
		submit(j)
	}
}

// ours runs a workload in a pool of ours, at a fixed size if scaler is nil.
func ours(w workload, size int64, scaler pool.Scaler) (r tally) {
	f := &floor{w: w, began: time.Now()}
	c := must(capacity.New(capacity.Vector{"slots": size, "memory": memory}))
	tasks := make(chan pool.Task, len(w.jobs))
	go func() {
		f.feed(func(j job) {
			tasks <- pool.Task{
				Cost: capacity.Vector{"slots": 1, "memory": j.memory},
				Run:  func(context.Context) (any, error) { f.do(j); return nil, nil },
			}
		})
		close(tasks)
	}()
	since := f.began
	for ev, err := range must(pool.New(pool.Config{Capacity: c, Source: pool.Chan(tasks), Scaler: scaler})).Run(context.Background()) {
		if err != nil {
			panic(err)
		}
		if d := ev.Decision; d != nil {
			r.held += time.Duration(size) * d.At.Sub(since)
			size, since = d.To, d.At
		}
	}
	r.took, r.busy = time.Since(f.began), time.Duration(f.busy.Load())
	r.held += time.Duration(size) * time.Since(since)
	return r
}

// theirs runs a workload in a pool of a fixed size. These pools do not account for memory,
// so each job waits for it inside the pool, as their users do.
func theirs(w workload, size int, open func(size int) (submit func(func()), wait func())) (r tally) {
	f := &floor{w: w, began: time.Now()}
	c := must(capacity.New(capacity.Vector{"memory": memory}))
	submit, wait := open(size)
	f.feed(func(j job) {
		submit(func() {
			grant := must(c.Acquire(context.Background(), must(c.Request(capacity.Vector{"memory": j.memory}))))
			defer grant.Release()
			f.do(j)
		})
	})
	wait()
	r.took, r.busy = time.Since(f.began), time.Duration(f.busy.Load())
	r.held = time.Duration(size) * r.took
	return r
}

var peers = map[string]func(size int) (func(func()), func()){
	"conc": func(size int) (func(func()), func()) {
		p := concpool.New().WithMaxGoroutines(size)
		return p.Go, p.Wait
	},
	"ants": func(size int) (func(func()), func()) {
		p := must(ants.NewPool(size, ants.WithDisablePurge(true)))
		var all sync.WaitGroup
		return func(f func()) { all.Add(1); _ = p.Submit(func() { defer all.Done(); f() }) }, func() { all.Wait(); p.Release() }
	},
	"pond": func(size int) (func(func()), func()) {
		p := pond.NewPool(size)
		var all sync.WaitGroup // stopping it uses a global pool, outside of the bubble
		return func(f func()) { all.Add(1); _ = p.Go(func() { defer all.Done(); f() }) }, all.Wait
	},
}

// faked runs with a fake clock.
func faked(t *testing.T, run func() tally) (r tally) {
	synctest.Test(t, func(*testing.T) { r = run() })
	return r
}

// fixed tries every fixed size, and returns the best time, its size, and the tally of the largest.
func fixed(t *testing.T, w workload) (best time.Duration, at int, widest tally) {
	best = math.MaxInt64
	line := ""
	for size := 1; size <= most; size++ {
		widest = faked(t, func() tally { return ours(w, int64(size), nil) })
		if widest.took < best {
			best, at = widest.took, size
		}
		line += fmt.Sprintf(" %d:%.1f", size, widest.took.Seconds())
	}
	t.Logf("%s: fixed%s s; best %d", w.name, line, at)
	return best, at, widest
}

// TestWorkloads prints, for each workload, the duration for every fixed size and for our
// pool.
//
//	go test . -run Workloads -v
func TestWorkloads(t *testing.T) {
	backlog := pool.ByBacklog{High: 2, Low: 1, Per: 1, Period: 100 * time.Millisecond}
	for _, w := range workloads() {
		var scaler pool.Scaler = backlog
		if w.slow != nil {
			scaler = chosen
		}
		best, at, widest := fixed(t, w)
		for name, open := range peers {
			peer := faked(t, func() tally { return theirs(w, at, open) })
			t.Logf("%s: %s at %d: %.2f s", w.name, name, at, peer.took.Seconds())
		}
		r := faked(t, func() tally { return ours(w, most, scaler) })
		t.Logf("%s: ours %.2f s, %+.1f%% of the best; unused %.0f slot-seconds, %.0f%% of the largest's", w.name, r.took.Seconds(),
			100*(r.took.Seconds()/best.Seconds()-1), (r.held - r.busy).Seconds(), 100*(r.held-r.busy).Seconds()/(widest.held-widest.busy).Seconds())
	}
}
