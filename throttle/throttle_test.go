package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// Do counts how the work ended, whatever way that is, and loses no slot. A Classify of the user
// sees the error of the work.
func TestDoCountsHowTheWorkEnds(t *testing.T) {
	cause, errCancelled := errors.New("client gone"), errors.New("canceling statement due to user request")
	for name, c := range map[string]struct {
		work            func(ctx context.Context, cancel context.CancelCauseFunc) error
		failed, ignored uint64
		classify        func(error) weir.Outcome
	}{
		"it fails":       {func(context.Context, context.CancelCauseFunc) error { return errors.New("conflict") }, 1, 0, nil},
		"it panics":      {func(context.Context, context.CancelCauseFunc) error { panic("bug") }, 1, 0, nil},
		"it exits":       {func(context.Context, context.CancelCauseFunc) error { runtime.Goexit(); return nil }, 1, 0, nil},
		"its error does": {func(_ context.Context, cancel context.CancelCauseFunc) error { cancel(cause); return panickingError{} }, 1, 0, nil},
		"the caller goes, for a cause": {func(ctx context.Context, cancel context.CancelCauseFunc) error {
			cancel(cause)
			return fmt.Errorf("query: %w", context.Cause(ctx))
		}, 0, 1, nil},
		"the caller goes, and the driver has its own words": {func(_ context.Context, cancel context.CancelCauseFunc) error {
			cancel(cause)
			return errCancelled
		}, 0, 1, nil},
		"the same, for a Classify": {func(_ context.Context, cancel context.CancelCauseFunc) error {
			cancel(cause)
			return errCancelled
		}, 1, 0, func(err error) weir.Outcome {
			if errors.Is(err, errCancelled) {
				return weir.Failure
			}
			return weir.Success
		}},
	} {
		t.Run(name, func(t *testing.T) {
			th := throttled(t, throttle.Config{Classify: c.classify, Reads: throttle.Side{MaxInFlight: 3}})
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan struct{})
			var err error
			var panicked any
			go func() {
				defer close(ended)
				defer func() { panicked = recover() }()
				err = th.Do(ctx, throttle.Read, 3, func(ctx context.Context) error { return c.work(ctx, cancel) })
			}()
			<-ended
			if name == "it panics" && panicked == nil {
				t.Error("the panic was swallowed")
			}
			if c.ignored > 0 && !errors.Is(err, cause) && !errors.Is(err, errCancelled) {
				t.Errorf("%v, want the error of the work", err)
			}
			s := th.Snapshot().Reads
			if l := s.Limiter; s.Cost != 3 || l.Failed != c.failed || l.Ignored != c.ignored || l.Samples != 0 || l.InFlight != 0 {
				t.Errorf("a cost of %d, %d failed, %d ignored, %d in flight", s.Cost, l.Failed, l.Ignored, l.InFlight)
			}
		})
	}
}

// panickingError is an error whose methods panic.
type panickingError struct{}

func (panickingError) Error() string { return "hostile" }

func (panickingError) Is(error) bool { panic("hostile") }

func TestOffIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 50, throttle.Config{Off: true})
		pass(10 * time.Second)
		began := time.Now()
		for range 1000 {
			must.Do(t, r.Do(t.Context(), throttle.Write, 1, func(context.Context) error { return nil }))
		}
		if s := r.Snapshot(); time.Since(began) > 0 || !s.Off || s.Writes.Pace.Rate != 0 || len(r.kinds()) > 0 {
			t.Errorf("it was held up: %+v, events %v", s.Writes.Pace, r.kinds())
		}
		r.stop()
		for range 2 {
			if err := <-r.ended; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestStopsInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.2)
		th := throttled(t, throttle.Config{})
		th.Close() // before Run
		th.Close()
		if _, err := th.Acquire(t.Context(), throttle.Read, 1); !errors.Is(err, weir.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 {
			if err := th.Run(ended); err != nil {
				t.Errorf("Run, of a closed throttle with a context that has ended: %v", err)
			}
		}
		r := run(t, p, throttle.Config{})
		pass(time.Second)
		if err := r.Run(t.Context()); !errors.Is(err, throttle.ErrRunning) {
			t.Errorf("a second Run: %v", err)
		}
	})
}

// When Run ends, waiting operations continue, and nothing is paced any more.
func TestEndOfRunLiftsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loaded(t, 5, throttle.Config{Writes: throttle.Side{Queue: weir.Queue{Timeout: time.Hour}}})
		pass(30 * time.Second)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := r.Do(context.WithoutCancel(t.Context()), throttle.Write, 1, func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		r.stop()
		all.Wait()
		if took := time.Since(began); took > 0 {
			t.Errorf("what waited went on after %v", took)
		}
	})
}

// Another Run begins without a pace, whatever held when the last one ended.
func TestRunAgainForgetsTheStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.95)
		mon := monitor(t, p)
		th := throttled(t, throttle.Config{Monitor: mon})
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = mon.Run(ctx) }()
		synctest.Wait()
		runFor := func(d time.Duration) throttle.Snapshot {
			ctx, cancel := context.WithCancel(ctx)
			go func() { ended <- th.Run(ctx) }()
			pass(d)
			s := th.Snapshot()
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			return s
		}
		time.AfterFunc(25*time.Second, func() {
			p.become(func() (load.Sample, error) { return load.Sample{}, errors.New("no answer") })
		})
		if s := runFor(30 * time.Second); s.Writes.Pace.Rate == 0 || !s.Writes.Degraded {
			t.Fatalf("in the storm: %+v", s.Writes)
		}
		p.says(0.8)
		pass(time.Second)
		if s := runFor(150 * time.Millisecond); s.Writes.Emergency || s.Writes.Pace != (throttle.Pace{}) {
			t.Errorf("one tick at ease: %+v, with %+v", s.Writes.Pace, s.Writes.PID)
		}
	})
}

// A throttle whose Run, or its monitor's, is not at work a second after New says so once, and
// starts operations all the same. Before that the goroutine of "go th.Run(ctx)" may be on its way.
func TestStartReportsWhatIsNotRunning(t *testing.T) {
	const first, none = 200 * time.Millisecond, ""
	for name, c := range map[string]struct {
		monitored, runs, monitors bool
		want                      string
	}{
		"Run":            {want: "db: writes: not running: call Run"},
		"Run, monitored": {monitored: true, want: "db: writes: not running: call Run"},
		"Monitor.Run":    {monitored: true, runs: true, want: "db: writes: monitor not running: call Monitor.Run"},
		"nothing":        {monitored: true, runs: true, monitors: true, want: none},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var events []string
				conf := throttle.Config{Name: "db", OnEvent: func(e throttle.Event) {
					if e.Kind == throttle.NotRunning || e.Kind == throttle.MonitorNotRunning {
						events = append(events, e.String())
					}
				}}
				p := &plant{}
				p.says(0)
				if c.monitored {
					conf.Monitor = monitor(t, p)
				}
				th := throttled(t, conf)
				start := func() {
					op := must.Have(th.Acquire(t.Context(), throttle.Write, 1))(t)
					op.Done(nil)
				}
				start() // before the goroutines
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				if c.runs {
					running.Go(func() { _ = th.Run(ctx) })
				}
				pass(first)
				start()
				if c.monitors {
					running.Go(func() { _ = conf.Monitor.Run(ctx) })
				}
				pass(time.Second)
				for range 3 {
					start()
				}
				stop()
				running.Wait()
				if got := strings.Join(events, ", "); got != c.want {
					t.Errorf("events %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestHostileCallbacks: a hook may call every method of the throttle, and may panic. The decisions
// continue, and the error is reported.
func TestHostileCallbacks(t *testing.T) {
	for name, tells := range map[string]string{"panics": "panicked", "calls us": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				p := &plant{}
				p.says(1.5)
				mon := monitor(t, p)
				told := 0
				var th *throttle.Throttle
				th = throttled(t, throttle.Config{Monitor: mon, OnEvent: func(throttle.Event) {
					told++
					if name == "panics" {
						panic("hostile")
					}
					th.Snapshot()
					if err := th.Do(ctx, throttle.Write, 1, func(context.Context) error { return nil }); err != nil && !errors.Is(err, weir.ErrRefused) {
						t.Error(err)
					}
					if err := th.Run(ctx); err == nil {
						t.Error("it runs twice")
					}
				}})
				go func() { _ = mon.Run(ctx) }()
				err := th.Run(ctx)
				if (tells != "") != (err != nil) || err != nil && !strings.Contains(err.Error(), tells) {
					t.Errorf("Run returned %v", err)
				}
				if told < 5 {
					t.Errorf("told %d times", told)
				}
			})
		})
	}
}
