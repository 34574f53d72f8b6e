package pool_test

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

func TestBadSettings(t *testing.T) {
	c := slots(6)
	source := pool.Slice(nil)
	with := func(s pool.Scaler) pool.Config { return pool.Config{Capacity: c, Source: source, Scaler: s} }
	two := must.Have(capacity.New(capacity.Vector{"a": 1, "b": 1}))(t)
	measure := func() (float64, bool) { return 0, true }
	for _, test := range []struct {
		config pool.Config
		want   string
	}{
		{pool.Config{Source: source}, "Capacity is <nil>: want one from capacity.New"},
		{pool.Config{Capacity: c}, "Source is <nil>: want a source, such as Slice(tasks)"},
		{
			pool.Config{Capacity: two, Source: source},
			`Cost is <nil>: want a vector, for the Capacity has several resources and none is "slots": ["a" "b"]`,
		},
		{
			pool.Config{Capacity: c, Source: source, Cost: capacity.Vector{"slots": 7}},
			`Cost is map[slots:7]: capacity: refused: needs 7 of "slots", its limit is 6`,
		},
		{pool.Config{Capacity: c, Source: source, Lookahead: -1}, "Lookahead is -1: want 0 (the default, 64) or more"},
		{pool.Config{Capacity: c, Source: source, Aging: -1}, "Aging is -1ns: want 0 (the default, 10s) to 1000h0m0s"},
		{
			pool.Config{Capacity: c, Source: source, Scalers: map[string]pool.Scaler{"x": pool.ByBacklog{}}},
			`Scalers is for "x": want one of ["slots"]`,
		},
		{
			pool.Config{
				Capacity: c, Source: source, Scaler: pool.ByBacklog{},
				Scalers: map[string]pool.Scaler{"slots": pool.ByBacklog{}},
			},
			`Scalers is "slots" twice: want either Scaler or Scalers for it`,
		},
		{
			pool.Config{Capacity: c, Source: source, Scalers: map[string]pool.Scaler{"slots": nil}},
			`the Scaler of "slots" is nil: want one`,
		},
		{with(pool.ByBacklog{High: -1}), "ByBacklog.High is -1: want 0 (the default, 10) or more"},
		{with(pool.ByBacklog{Low: 10}), "ByBacklog.Low is 10: want 0 (the default) or less than High, which is 10"},
		{with(pool.ByBacklog{Max: 7}), "ByBacklog.Max is 7: want 0 (the default) or up to the limit, which is 6"},
		{with(pool.ByBacklog{Min: 5, Max: 4}), "ByBacklog.Min is 5: want 0 (the default, 1) or up to Max, which is 4"},
		{with(pool.ByBacklog{Initial: 1, Min: 2}), "ByBacklog.Initial is 1: want from Min to Max, which are 2 and 6"},
		{with(pool.ByBacklog{Step: 7}), "ByBacklog.Step is 7: want 0 (the default, 1) or up to the limit, which is 6"},
		{with(pool.ByBacklog{Per: -1}), "ByBacklog.Per is -1: want 0 (none) or more"},
		{with(pool.ByBacklog{Period: -1}), "ByBacklog.Period is -1ns: want 0 (the default, 1s) or more"},
		{with(pool.ByBacklog{Cooldown: -1}), "ByBacklog.Cooldown is -1ns: want 0 (none) or more"},
		{with(pool.ByAge{High: -1}), "ByAge.High is -1ns: want 0 (the default, 10s) to 1000h0m0s"},
		{with(pool.ByAge{Low: 10 * time.Second}), "ByAge.Low is 10s: want 0 (the default) or less than High, which is 10s"},
		{with(pool.ByAge{Per: -1}), "ByAge.Per is -1ns: want 0 (none) or more"},
		{with(pool.ByAge{Step: 7}), "ByAge.Step is 7: want 0 (the default, 1) or up to the limit, which is 6"},
		{with(pool.ByLoad{}), "ByLoad.Measure is nil: want a function"},
		{
			with(pool.ByLoad{Measure: measure, High: 0.5, Low: 0.6}),
			"ByLoad.Low and ByLoad.High are 0.6 and 0.5: want above 0, finite, and Low below High",
		},
		{
			pool.Config{
				Capacity: must.Have(capacity.New(capacity.Vector{"slots": 6, "memory": 0}))(t), Source: source,
				Scalers: map[string]pool.Scaler{"memory": pool.ByLaw{}},
			},
			"ByLaw.Max is 0: want a resource of which there is any",
		},
		{with(pool.MinOf{}), "MinOf is empty: want at least one scaler"},
		{with(pool.MinOf{pool.ByBacklog{High: -1}}), "ByBacklog.High is -1: want 0 (the default, 10) or more"},
		{
			with(pool.ByLaw{Window: 1}),
			"ByLaw.Window and ByLaw.MinSamples are 1ns and 20: want at least Interval, and 0 (the default) to 1000000000",
		},
	} {
		_, err := pool.New(test.config)
		if err == nil || err.Error() != "pool: invalid configuration: "+test.want || !errors.Is(err, pool.ErrConfig) {
			t.Errorf("\n got %v\nwant pool: invalid configuration: %s", err, test.want)
		}
	}
}

// The run restores the withheld amounts, and each resource has its own scaler.
func TestEachResourceIsSizedOnItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := must.Have(capacity.New(capacity.Vector{"slots": 6, "memory": 100}))(t)
		must.Do(t, c.Withhold("slots", 1))
		most := int64(0)
		r := run(t, pool.Config{
			Capacity: c, Source: pool.Slice(tasks(30, time.Second)), Cost: capacity.Vector{"slots": 1, "memory": 10},
			Scaler: pool.ByBacklog{Initial: 2},
			Scalers: map[string]pool.Scaler{"memory": pool.ByBacklog{
				Initial: 20, Step: 10, Max: 40, Period: 2 * time.Second,
			}},
		}, func(p *pool.Pool, _ pool.Event) {
			most = max(most, c.Resource("memory").InUse)
			for _, d := range p.History() {
				if d.To == d.From {
					t.Errorf("%v is no change", d)
				}
			}
		})
		if most != 40 {
			t.Errorf("%d of memory in use, want 40", most)
		}
		if u := c.Resource("slots"); u.Withheld != 1 || u.Available != 5 {
			t.Errorf("not put back: %+v", u)
		}
		if want := "slots: backlog 30 above 10: raised 2 to 3"; !slices.Contains(r.changes(), want) {
			t.Errorf("no %q in %q", want, r.changes())
		}
	})
}

// TestHistoryIsBounded: a size that moves each second has a short past.
func TestHistoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load, most := 0.0, 0
		moves := pool.ByLoad{Initial: 2, Measure: func() (float64, bool) { load = 1 - load; return load, true }}
		run(t, pool.Config{Capacity: slots(2), Source: pool.Slice(tasks(60, time.Second)), Scaler: moves}, func(p *pool.Pool, _ pool.Event) {
			most = max(most, len(p.History()))
		})
		if most != 16 {
			t.Errorf("%d changes are remembered, want 16", most)
		}
	})
}

func TestLargeTaskMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := task("large", time.Second, nil)
		large.Cost = capacity.Vector{"slots": 5}
		r := run(t, pool.Config{Capacity: slots(6), Source: pool.Slice([]pool.Task{large}), Scaler: pool.ByBacklog{}})
		r.expect(t, "large done", nil)
		if want := "slots: a task needs 5: raised 1 to 5"; !slices.Contains(r.changes(), want) {
			t.Errorf("no %q in %q", want, r.changes())
		}
	})
}

func TestBacklogThatLies(t *testing.T) {
	for name, backlog := range map[string]func(context.Context) (pool.Depth, error){
		"too much": func(context.Context) (pool.Depth, error) { return pool.Depth{Count: 1 << 62}, nil },
		"negative": func(context.Context) (pool.Depth, error) { return pool.Depth{Count: -1 << 62}, nil },
		"error":    func(context.Context) (pool.Depth, error) { return pool.Depth{Count: 100}, errTask },
		"panic":    func(context.Context) (pool.Depth, error) { panic(errTask) },
		"blocks":   func(ctx context.Context) (pool.Depth, error) { <-ctx.Done(); return pool.Depth{}, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &faulty{
					tasks: 3, backlog: backlog,
					then: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
				}
				r := runFor(t, time.Minute, pool.Config{Capacity: slots(6), Source: source, Scaler: pool.ByBacklog{}})
				decided := r.decided()
				if done, size := r.count(pool.Done), decided[len(decided)-1].To; done != 3 || size != 1 {
					t.Errorf("%d done, size %d: want 3, and 1 where nothing can be claimed", done, size)
				}
			})
		})
	}
}

// A source that answers late is asked no sooner, and keeps its last backlog for a while.
func TestBacklogThatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		source := &faulty{tasks: 1000, backlog: func(ctx context.Context) (pool.Depth, error) {
			if asked++; asked > 3 {
				<-ctx.Done()
			}
			time.Sleep(2500 * time.Millisecond)
			return pool.Depth{Count: 700}, ctx.Err()
		}}
		c := pool.Config{Capacity: slots(6), Source: source, Scaler: pool.ByBacklog{High: 1e6, Low: 1, Period: time.Second}}
		var known strings.Builder // at each decision
		runFor(t, 30*time.Second, c, func(_ *pool.Pool, ev pool.Event) {
			switch {
			case ev.Kind != pool.Decided:
			case ev.Decision.Backlog.Count >= 700 && ev.Err == nil:
				known.WriteString("k")
			case errors.Is(ev.Err, pool.ErrSource):
				known.WriteString("-")
			default:
				t.Errorf("a backlog of %d, %v", ev.Decision.Backlog.Count, ev.Err)
			}
		})
		if !regexp.MustCompile(`^-{1,3}k{14,18}-{8,14}$`).MatchString(known.String()) {
			t.Errorf("the backlog is known at %s: want from the first answer until 10 s after the last", known.String())
		}
	})
}

func TestBacklogThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		source := &faulty{
			tasks: 3, then: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			backlog: func(context.Context) (pool.Depth, error) { <-release; return pool.Depth{}, nil },
		}
		c := slots(6)
		busy := pool.ByLoad{Measure: func() (float64, bool) { return 1, true }, Initial: 6}
		r := runFor(t, time.Minute, pool.Config{Capacity: c, Source: source, Scaler: busy, Grace: time.Second}, func(_ *pool.Pool, ev pool.Event) {
			if ev.Kind == pool.Decided && !errors.Is(ev.Err, pool.ErrSource) {
				t.Errorf("%v: %v, want that the backlog is not known", ev, ev.Err)
			}
		})
		decided := r.decided()
		if done, size := r.count(pool.Done), decided[len(decided)-1].To; done != 3 || size != 1 ||
			!errors.Is(r.err, pool.ErrAbandoned) || c.Resource("slots").Available != 6 {
			t.Errorf("%d done, size %d, %v, %+v: want 3, 1 for the load, that the source was left behind, and all back",
				done, size, r.err, c.Resource("slots"))
		}
		close(release)
	})
}

// The default law starts as in a limiter, and sees the wall clock, by which limiters that share a
// server probe together.
func TestDefaultLawIsThatOfALimiter(t *testing.T) {
	for _, test := range []struct {
		law  pool.ByLaw
		want int64
	}{
		{pool.ByLaw{}, 4},
		{pool.ByLaw{Min: 6}, 6},
		{pool.ByLaw{Max: 2}, 2},
		{pool.ByLaw{Initial: 1}, 1},
		{pool.ByLaw{Law: law.Little{}}, 1},
	} {
		if got := must.Have(test.law.Sizer(16))(t).Plan().Initial; got != test.want {
			t.Errorf("%+v starts from %d, want %d", test.law, got, test.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var closed time.Time
		watch := watching(func(w law.Window) { closed = w.Closed })
		run(t, pool.Config{Capacity: slots(4), Source: pool.Slice(tasks(100, time.Second)), Scaler: pool.ByLaw{Law: watch, Initial: 4}})
		if since := time.Since(closed); since < 0 || since > 20*time.Second {
			t.Errorf("the last window was closed at %v, want the time of the wall clock", closed)
		}
	})
}

// A source that bounds how much is held leaves no task to wait in the pool: the law sees by the
// backlog that its limit holds work back, and not once that is gone.
func TestLawGrowsWithABoundedSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		source := sourcetest.NewMemory(time.Minute, tasks(1000, 50*time.Millisecond))
		r := run(t, pool.Config{Capacity: slots(100), Source: source, Scaler: pool.ByLaw{}})
		if took, most := time.Since(began), r.largest(); most < 50 || took > 5*time.Second {
			t.Errorf("up to %d tasks at once, in %v: want most of 100, in a few seconds", most, took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		tasks := make(chan pool.Task)
		go func() {
			for range 1000 { // three at once, no backlog
				tasks <- task("", 50*time.Millisecond, nil)
				time.Sleep(16 * time.Millisecond)
			}
			close(tasks)
		}()
		r := run(t, pool.Config{Capacity: slots(100), Source: bounded{pool.Chan(tasks)}, Scaler: pool.ByLaw{}})
		if most := r.largest(); most > 4 {
			t.Errorf("up to %d tasks at once, want 4: nothing waits", most)
		}
	})
}

// bounded is a source that has as many tasks held as can run.
type bounded struct{ pool.Source }

func (bounded) Bounded() {}

// watching is a law that keeps its limit and shows its windows.
type watching func(law.Window)

func (l watching) Controller(law.Bounds) (law.Controller, error) { return l, nil }

func (l watching) Next(w law.Window) law.Decision {
	l(w)
	return law.Decision{Limit: float64(w.Limit)}
}

// Latency rises with the running tasks: the law holds back.
func TestLawsSizeThePool(t *testing.T) {
	for name, scaler := range map[string]pool.Scaler{
		"law": pool.ByLaw{Law: law.Band{Target: 100 * time.Millisecond}, Initial: 10},
		"least": pool.MinOf{
			pool.ByLaw{Law: law.Band{Target: 100 * time.Millisecond}, Initial: 10},
			pool.ByBacklog{Initial: 40},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p *pool.Pool
				var tasks []pool.Task
				for range 5000 {
					tasks = append(tasks, pool.Task{Run: func(context.Context) (any, error) {
						time.Sleep(time.Duration(p.Snapshot().Running) * 10 * time.Millisecond)
						return nil, nil
					}})
				}
				p = must.Have(pool.New(pool.Config{Capacity: slots(40), Source: pool.Slice(tasks), Scaler: scaler}))(t)
				done, last := 0, pool.Decision{}
				for ev := range p.Run(t.Context()) {
					switch ev.Kind {
					case pool.Done:
						done++
					case pool.Decided:
						if done < len(tasks)-100 {
							last = *ev.Decision
						}
					}
				}
				if done != len(tasks) || last.To < 7 || last.To > 13 || !strings.Contains(last.String(), "p95") {
					t.Errorf("%d done, %v: want about 10", done, last)
				}
			})
		})
	}
}
