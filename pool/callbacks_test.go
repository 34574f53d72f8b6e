package pool_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
)

// A callback is code of the user in one place, which calls act and else does its work.
type callback struct {
	name  string
	setup func(c *pool.Config, act func())
	ends  bool // act ends the run, by an error of the source
	tells bool // or an event reports it
}

var callbacks = []callback{
	{name: "Run", tells: true, setup: func(c *pool.Config, act func()) {
		c.Source = pool.Slice(append(three(nil), pool.Task{
			Key: "bad", Run: func(context.Context) (any, error) { act(); return nil, nil },
		}))
	}},
	{name: "Error of a task", tells: true, setup: func(c *pool.Config, act func()) {
		c.Source = pool.Slice(append(three(nil), pool.Task{
			Key: "bad", Run: func(context.Context) (any, error) { return nil, hostileError(act) },
		}, after(task("last", time.Second, nil), "bad")))
	}},
	{name: "Claim", ends: true, setup: func(c *pool.Config, act func()) {
		c.Source = &faulty{tasks: 3, then: func(context.Context) error { act(); return io.EOF }}
	}},
	{name: "Error of Claim", ends: true, setup: func(c *pool.Config, act func()) {
		c.Source = &faulty{tasks: 3, then: func(context.Context) error { return hostileError(act) }}
	}},
	{name: "sequence", ends: true, setup: func(c *pool.Config, act func()) {
		c.Source = pool.Seq(func(yield func(pool.Task) bool) {
			for _, t := range three(nil) {
				if !yield(t) {
					return
				}
			}
			act()
		})
	}},
	{name: "Backlog", tells: true, setup: func(c *pool.Config, act func()) {
		c.Scaler = pool.ByBacklog{Initial: 2}
		c.Source = &faulty{
			tasks: 3, then: func(context.Context) error { return io.EOF },
			backlog: func(context.Context) (pool.Depth, error) { act(); return pool.Depth{Count: 3}, nil },
		}
	}},
	{name: "Acknowledge", tells: true, setup: func(c *pool.Config, act func()) {
		c.Source = leased(nil, stub{acknowledge: func() error { act(); return nil }})
	}},
	{name: "GiveBack", setup: func(c *pool.Config, act func()) {
		c.Source = leased(errTask, stub{giveBack: func() error { act(); return nil }})
	}},
	{name: "Extend", setup: func(c *pool.Config, act func()) {
		c.Source = leased(nil, stub{extend: func() error { act(); return nil }})
	}},
	{name: "Sizer", tells: true, setup: func(c *pool.Config, act func()) {
		c.Scaler = hostileScaler{
			func() pool.Plan { return pool.Plan{Initial: 2, Min: 1, Max: 3, Period: time.Second} },
			act,
		}
	}},
	{name: "Measure", tells: true, setup: func(c *pool.Config, act func()) {
		c.Scaler = pool.ByLoad{Initial: 2, Measure: func() (float64, bool) { act(); return 0.8, true }}
	}},
	{name: "Law", tells: true, setup: func(c *pool.Config, act func()) {
		asked := false
		c.Scaler = pool.MinOf{
			pool.ByBacklog{Initial: 3},
			pool.ByLaw{Initial: 3, Interval: time.Second, Law: hostileLaw(func() {
				if asked { // the first time is when the pool is made
					act()
				}
				asked = true
			})},
		}
	}},
}

// three returns tasks that end with the error, by their keys "1" to "3".
func three(err error) []pool.Task {
	return []pool.Task{task("1", time.Second, err), task("2", 2*time.Second, err), task("3", 3*time.Second, err)}
}

// leased is a source of such tasks with a lease each.
func leased(err error, lease pool.Lease) pool.Source {
	return lent(lease, 900*time.Millisecond, three(err)...)
}

type hostileScaler struct {
	plan func() pool.Plan
	act  func()
}

func (s hostileScaler) Sizer(int64) (pool.Sizer, error) { return s, nil }
func (s hostileScaler) Plan() pool.Plan                 { return s.plan() }
func (s hostileScaler) Next(r pool.Observation) (int64, pool.Reason) {
	s.act()
	return r.Size, pool.Reason{}
}

type hostileLaw func()

func (l hostileLaw) Controller(law.Bounds) (law.Controller, error) { return l, nil }
func (l hostileLaw) Next(w law.Window) law.Decision {
	l()
	return law.Decision{Limit: float64(w.Limit), Next: law.Plan{MinSamples: 1}}
}

type hostileError func()

func (e hostileError) Error() string { e(); return "hostile" }
func (e hostileError) Is(error) bool { e(); return false }
func (e hostileError) As(any) bool   { e(); return false }

// TestHostileCallbacks: code of the user may call every method of the pool and its capacity that
// does not wait for it, may panic, and may end its goroutine, wherever it is called. The process
// lives, the run ends, every task that was claimed ends in one event, and nothing of the capacity
// is lost.
func TestHostileCallbacks(t *testing.T) {
	for _, callback := range callbacks {
		for _, act := range []string{"panics", "exits", "calls us", "drains"} {
			t.Run(callback.name+" "+act, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testHostile(t, callback, act) })
			})
		}
	}
}

func testHostile(t *testing.T, callback callback, act string) {
	c := slots(3)
	var p *pool.Pool
	var mu sync.Mutex
	acted := 0
	config := pool.Config{Capacity: c, Source: pool.Slice(three(nil)), Grace: time.Hour, Backfill: 4}
	callback.setup(&config, func() {
		mu.Lock()
		acted++
		mu.Unlock()
		switch act {
		case "panics":
			panic(hostileError(func() { panic("again") }))
		case "exits":
			runtime.Goexit()
		case "calls us":
			for range p.Run(context.Background()) { // ErrUsed
				break
			}
			p.Snapshot()
			p.History()
			c.Snapshot()
			_ = c.Withhold("slots", 0)
			_ = c.SetLimit("slots", 3)
			if g, err := c.TryAcquire(must.Have(c.Request(capacity.Vector{"slots": 1}))(t)); err == nil {
				g.Release()
			}
		case "drains":
			p.Drain()
		}
	})
	p = must.Have(pool.New(config))(t)
	ends := map[string]int{}
	told := false
	var last error
	began := time.Now()
	for ev, err := range p.Run(t.Context()) {
		last = err
		switch {
		case err != nil:
		case ev.Kind == pool.Done || ev.Kind == pool.Failed || ev.Kind == pool.Cancelled:
			ends[ev.Key]++
			fallthrough
		default:
			told = told || ev.Err != nil
		}
	}
	synctest.Wait()
	time.Sleep(time.Minute) // others give their grants back
	mu.Lock()
	defer mu.Unlock()
	if acted == 0 {
		t.Fatal("it was never called")
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("the run took %v", took)
	}
	for key, n := range ends {
		if n != 1 {
			t.Errorf("%q ended %d times", key, n)
		}
	}
	if s := p.Snapshot(); s.Running+s.Ready+s.Blocked != 0 ||
		int(s.Completed+s.Failed+s.Cancelled) != len(ends) {
		t.Errorf("%+v with %d ends", s, len(ends))
	}
	if s := c.Snapshot(); s.Grants != 0 || s.Waiting != 0 || s.Resources["slots"].Available != 3 {
		t.Errorf("lost: %+v", s)
	}
	bad := act == "panics" || act == "exits"
	if act != "drains" && len(ends) < 3 {
		t.Errorf("%d tasks ended", len(ends))
	}
	if bad && callback.tells && !told {
		t.Error("no event tells of it")
	}
	if ends := bad && callback.ends ||
		act == "calls us" && callback.name == "Error of Claim"; ends != errors.Is(last, pool.ErrSource) {
		t.Errorf("the run ended with %v", last)
	}
}

// TestSequenceThatFailsAtItsEnd: the code of a stopped sequence is code of the user too.
func TestSequenceThatFailsAtItsEnd(t *testing.T) {
	for name, act := range map[string]func(){"panics": func() { panic("stopped") }, "exits": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				endless := pool.Seq(func(yield func(pool.Task) bool) {
					defer act()
					for yield(pool.Task{Run: three(nil)[0].Run}) {
					}
				})
				c := slots(2)
				r := run(t, pool.Config{Capacity: c, Source: endless, Scaler: pool.ByBacklog{}}, func(p *pool.Pool, ev pool.Event) {
					if ev.Kind == pool.Done {
						p.Drain()
					}
				})
				if !errors.Is(r.err, pool.ErrSource) || c.Resource("slots").Available != 2 {
					t.Errorf("%v, %+v", r.err, c.Resource("slots"))
				}
			})
		})
	}
}
