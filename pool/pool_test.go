package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
)

func TestEventsComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := slots(2)
		r := run(t, pool.Config{Capacity: c, Source: pool.Slice([]pool.Task{
			task("a", 3*time.Second, nil), task("b", time.Second, errTask), task("c", time.Second, nil),
			{Key: "d", Run: func(ctx context.Context) (any, error) { pool.Report(ctx, 50); return "d:ok", nil }},
		})}, func(_ *pool.Pool, ev pool.Event) {
			if ev.Kind == pool.Done && ev.Value != ev.Key+":ok" {
				t.Errorf("value %v", ev.Value)
			}
			if ev.Key == "d" && c.Resource("slots").InUse > 1 {
				t.Error("granted while the event is delivered")
			}
		})
		r.expect(t, "b failed, c done, d progress, d done, a done", nil)
		if e := r.all[0]; !errors.Is(e.Err, errTask) || e.Took != time.Second || e.Attempt != 1 {
			t.Errorf("%+v", e)
		}
		if e := r.all[1]; e.Waited != time.Second {
			t.Errorf("%+v", e)
		}
	})
}

func TestPriorityAgesAndKeepsItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan pool.Task)
		go func() {
			send := func(key string, priority int) {
				next := task(key, 10*time.Second, nil)
				next.Priority = priority
				c <- next
				synctest.Wait()
			}
			send("first", 0)
			send("low", 0)
			send("high", 2)
			send("middle", 1)
			time.Sleep(25 * time.Second)
			send("late", 2) // low has waited for 25 s by then, which is worth more
			close(c)
		}()
		run(t, pool.Config{Capacity: slots(1), Source: pool.Chan(c)}).expect(t,
			"first done, high done, middle done, low done, late done", nil)
	})
}

func TestDependencies(t *testing.T) {
	for _, test := range []struct {
		name  string
		tasks []pool.Task
		want  string
		why   string
	}{
		{"order", []pool.Task{
			after(task("c", 1, nil), "a", "b"), task("a", 3, nil), after(task("b", 1, nil), "a"),
		}, "a done, b done, c done", ""},
		{"failure cascades", []pool.Task{
			task("a", 3, errTask), after(task("b", 1, nil), "a"), after(task("c", 1, nil), "b"), task("d", 5, nil),
		}, "a failed, b cancelled, c cancelled, d done", `pool: dependency: it waits for "a", which failed: no luck`},
		{
			"cycle",
			[]pool.Task{
				after(task("a", 1, nil), "b"), after(task("b", 1, nil), "c"), after(task("c", 1, nil), "a"),
				task("d", 9, nil),
			},
			"c failed, b cancelled, a cancelled, d done",
			"pool: dependency: cycle: c waits for a waits for b waits for c",
		},
		{"itself", []pool.Task{after(task("a", 1, nil), "a")}, "a failed", "pool: dependency: cycle: a waits for a"},
		{
			"unknown",
			[]pool.Task{after(task("a", 1, nil), "x"), task("b", 9, nil)},
			"a cancelled, b done",
			`pool: dependency: it waits for "x", which never came`,
		},
		{
			"finished before",
			[]pool.Task{
				task("a", 0, nil), task("x", 1, nil), task("y", 5, nil),
				after(task("b", 1, nil), "a"),
			},
			"a done, x done, b done, y done", "",
		},
		{
			"twice",
			[]pool.Task{task("a", 1, nil), task("a", 1, nil)},
			"a failed, a done",
			`pool: duplicate key: "a": a task of this key is not finished yet`,
		},
		{
			"twice, and invalid",
			[]pool.Task{task("a", 1, nil), {Key: "a"}, after(task("b", 1, nil), "a")},
			"a failed, a done, b done", `pool: duplicate key: "a": a task of this key is not finished yet`,
		},
		{
			"refused before",
			[]pool.Task{after(task("a", 1, nil), "a"), after(task("b", 1, nil), "a"), task("c", 9, nil)},
			"a failed, b cancelled, c done", `pool: dependency: it waits for "a", which failed`,
		},
		{
			"nameless",
			[]pool.Task{after(task("", 1, nil), "x")},
			" failed",
			`pool: invalid configuration: a task without a Key is After ["x"]: want a Key`,
		},
		{"empty", []pool.Task{{Key: "a"}}, "a failed", `pool: invalid configuration: task "a" has no Run`},
		{
			"priority",
			[]pool.Task{{Key: "a", Run: task("", 0, nil).Run, Priority: 1001}},
			"a failed",
			`pool: invalid configuration: Priority of task "a" is 1001: want -1000 to 1000`,
		},
		{
			"too large",
			[]pool.Task{{Key: "a", Run: task("", 0, nil).Run, Cost: capacity.Vector{"slots": 3}}},
			"a failed",
			`capacity: refused: needs 3 of "slots", its limit is 2`,
		},
		{
			"unknown resource",
			[]pool.Task{{Key: "a", Run: task("", 0, nil).Run, Cost: capacity.Vector{"slot": 1}}},
			"a failed", `capacity: invalid configuration: request for "slot", which is unknown: want one of ["slots"]`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, pool.Config{Capacity: slots(2), Source: pool.Slice(test.tasks)})
				r.expect(t, test.want, nil)
				var whys []string
				for _, e := range r.all {
					if e.Err != nil {
						whys = append(whys, e.Err.Error())
					}
				}
				if test.why != "" && !slices.Contains(whys, test.why) || test.why == "" && len(whys) > 0 {
					t.Errorf("%q, want %q", whys, test.why)
				}
			})
		})
	}
}

// TestManyWays: two tasks in each of fifty layers wait for both of the next, by 2^50 ways. Whether
// the one that waits for all of them closes a cycle is found at once.
func TestManyWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind := func(key string, keys ...string) pool.Task { return after(task(key, time.Second, nil), keys...) }
		tasks := []pool.Task{behind("last", "all"), behind("a0"), behind("b0")}
		for i := range 50 {
			a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
			tasks = append(tasks, behind(fmt.Sprint("a", i+1), a, b), behind(fmt.Sprint("b", i+1), a, b))
		}
		tasks = append(tasks, behind("all", "a50", "b50"))
		if done := run(t, pool.Config{Capacity: slots(2), Source: pool.Slice(tasks)}).count(pool.Done); done != len(tasks) {
			t.Errorf("%d of %d done", done, len(tasks))
		}
	})
}

func TestPanicIsAnError(t *testing.T) {
	r := run(t, pool.Config{Capacity: slots(1), Source: pool.Slice([]pool.Task{
		{Key: "a", Run: explode},
		{Key: "b", Run: func(context.Context) (any, error) { runtime.Goexit(); return nil, nil }},
		task("c", 0, nil),
	})})
	r.expect(t, "a failed, b failed, c done", nil)
	var p *pool.PanicError
	if !errors.As(r.all[0].Err, &p) || !strings.Contains(string(p.Stack), "explode") ||
		!errors.Is(r.all[0].Err, errTask) {
		t.Errorf("%v: want the stack", r.all[0].Err)
	}
	if !errors.Is(r.all[1].Err, pool.ErrExited) {
		t.Error(r.all[1].Err)
	}
}

func explode(context.Context) (any, error) { panic(errTask) }

func TestStopOnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, pool.Config{Capacity: slots(2), StopOnError: true, Source: pool.Slice([]pool.Task{
			task("a", time.Hour, nil), task("b", time.Second, errTask), task("c", time.Second, nil),
		})})
		r.expect(t, "b failed, c cancelled, a failed", pool.ErrStopped)
		if !errors.Is(r.err, errTask) {
			t.Errorf("%v, want the task's", r.err)
		}
	})
}

func TestContextEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		bored := errors.New("bored")
		p := must.Have(pool.New(pool.Config{
			Capacity: slots(1),
			Source:   pool.Slice([]pool.Task{task("a", time.Hour, nil), task("b", 1, nil)}),
		}))(t)
		time.AfterFunc(time.Second, func() { cancel(bored) })
		var got []string
		for ev, err := range p.Run(ctx) {
			got = append(got, fmt.Sprint(ev.Key, " ", ev.Kind, errors.Is(errors.Join(err, ev.Err), bored)))
		}
		slices.Sort(got)
		if want := []string{" Kind(0) true", "a failed true", "b cancelled true"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for _, err := range p.Run(ctx) {
			if !errors.Is(err, pool.ErrUsed) {
				t.Errorf("the second run: %v", err)
			}
		}
	})
}

func TestBreakCancelsAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, ended := slots(2), false
		p := must.Have(pool.New(pool.Config{Capacity: c, Source: pool.Slice([]pool.Task{
			task("a", time.Second, nil), task("c", time.Hour, nil),
			{Key: "b", Run: func(ctx context.Context) (any, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				ended = true
				return nil, nil
			}},
		})}))(t)
		for range p.Run(t.Context()) {
			synctest.Wait() // b has started
			break
		}
		if !ended || c.Snapshot().Grants != 0 {
			t.Errorf("ended %v, %d grants", ended, c.Snapshot().Grants)
		}
		defer func() {
			if r := recover(); r != "reader" || c.Snapshot().Grants != 0 {
				t.Errorf("recovered %v, %d grants", r, c.Snapshot().Grants)
			}
		}()
		for range must.Have(pool.New(pool.Config{
			Capacity: c,
			Source:   pool.Slice([]pool.Task{task("a", 1, nil), task("b", time.Hour, nil)}),
		}))(t).Run(t.Context()) {
			panic("reader")
		}
	})
}

func TestTaskThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var p *pool.Pool
		for _, way := range []string{"cancelled", "broken"} {
			c := slots(1)
			release := make(chan struct{})
			p = must.Have(pool.New(pool.Config{Capacity: c, Grace: time.Minute, Source: pool.Slice([]pool.Task{
				{Key: "stuck", Run: func(ctx context.Context) (any, error) {
					pool.Report(ctx, way)
					<-release
					return nil, nil
				}},
			})}))(t)
			began := time.Now()
			var last error
			for _, err := range p.Run(ctx) {
				if last = err; way == "broken" {
					break
				}
				cancel()
			}
			if took := time.Since(began); took != time.Minute {
				t.Errorf("%s: %v, want the grace", way, took)
			}
			if way == "cancelled" &&
				(!errors.Is(last, pool.ErrAbandoned) || !errors.Is(last, context.Canceled) ||
					!strings.Contains(last.Error(), "stuck")) {
				t.Errorf("%s: %v", way, last)
			}
			if s := p.Snapshot(); !slices.Equal(s.Abandoned, []string{`task "stuck"`}) {
				t.Errorf("%s: %+v", way, s)
			}
			if n := c.Snapshot().Grants; n != 1 {
				t.Errorf("%s: %d grants: what still runs still takes its place", way, n)
			}
			close(release)
			synctest.Wait()
			if n := c.Snapshot().Grants; n != 0 {
				t.Errorf("%s: %d grants when it had ended", way, n)
			}
			ctx = t.Context()
		}
	})
}

func TestReaderThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, started := slots(10), 0
		var mu sync.Mutex
		source := pool.Seq(func(yield func(pool.Task) bool) {
			for yield(pool.Task{Run: func(context.Context) (any, error) {
				mu.Lock()
				started++
				mu.Unlock()
				return nil, nil
			}}) {
			}
		})
		p := must.Have(pool.New(pool.Config{Capacity: c, Source: source, Buffer: 20}))(t)
		for range p.Run(t.Context()) {
			time.Sleep(time.Hour)
			break
		}
		if started > 2*(20+2*10) { // one buffer is being read, one is full
			t.Errorf("%d started, want what two buffers hold", started)
		}
	})
}

func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan pool.Task, 3) // never closed
		for _, key := range []string{"a", "b", "c"} {
			c <- task(key, time.Second, nil)
		}
		r := run(t, pool.Config{Capacity: slots(1), Source: pool.Chan(c)}, func(p *pool.Pool, _ pool.Event) {
			p.Drain()
		})
		r.expect(t, "a done, c cancelled, b done", nil)
	})
}

func TestBackfillIsBounded(t *testing.T) {
	large := task("large", time.Second, nil)
	large.Cost = capacity.Vector{"slots": 4}
	all := append([]pool.Task{task("long", 10*time.Second, nil), large}, tasks(30, time.Second)...)
	for _, test := range []struct {
		name   string
		config pool.Config
		before int // how many end before it
	}{
		{"bounded", pool.Config{Backfill: 9}, 1 + 9},
		{"default", pool.Config{}, 1 + 16},
		{"largest", pool.Config{Backfill: math.MaxInt, Lookahead: math.MaxInt, Buffer: math.MaxInt, History: math.MaxInt}, 1 + 30},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.config.Capacity, test.config.Source = slots(4), pool.Slice(all)
				r := run(t, test.config)
				if at := slices.Index(r.events, "large done"); at != test.before {
					t.Errorf("%d ended before it, want %d: %q", at, test.before, r.events)
				}
			})
		})
	}
}

// TestHistoryKeepsTheLastEnds: a task that comes again is not forgotten by its first end.
func TestHistoryKeepsTheLastEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tasks []pool.Task
		for _, key := range []string{"a", "b", "a", "c"} {
			tasks = append(tasks, task(key, time.Second, nil))
		}
		for _, key := range []string{"a", "b"} {
			tasks = append(tasks, after(task("after "+key, time.Second, nil), key))
		}
		source := make(chan pool.Task)
		go func() {
			defer close(source)
			for _, next := range tasks {
				source <- next
				time.Sleep(2 * time.Second)
			}
		}()
		r := run(t, pool.Config{Capacity: slots(1), Source: pool.Chan(source), History: 2})
		r.expect(t, "a done, b done, a done, c done, after a done, after b cancelled", nil)
	})
}

func TestEventIsOneLine(t *testing.T) {
	for want, e := range map[string]pool.Event{
		`"a\nb: done: 1"`:     {Key: "a\nb", Kind: pool.Done, Value: 1},
		`"a\x9b: done: 1"`:    {Key: "a\x9b", Kind: pool.Done, Value: 1},
		`"a: failed: x\ny"`:   {Key: "a", Kind: pool.Failed, Err: errors.Join(errors.New("x"), errors.New("y"))},
		"ä b: progress: half": {Key: "ä b", Kind: pool.Progress, Value: "half"},
	} {
		if got := e.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
