package weirtemporal_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirtemporal"
)

// fixed returns slots that follow a fixed limit.
func fixed(limit int) (*weir.Limiter, *weirtemporal.Slots) {
	lim := weir.Must(weir.New(weir.Config{Name: "database", Law: law.Fixed{Limit: limit}}))
	return lim, weirtemporal.New(lim)
}

// released is the SDK's report of a slot that comes back.
type released struct {
	worker.SlotReleaseInfo
	permit *worker.SlotPermit
}

func (r released) Permit() *worker.SlotPermit { return r.permit }

func reserve(t *testing.T, slots *weirtemporal.Slots) *worker.SlotPermit {
	t.Helper()
	return must.Have(slots.ReserveSlot(t.Context(), nil))(t)
}

// environment is the SDK's environment for tests of activities, with the interceptor.
func environment(slots *weirtemporal.Slots) *testsuite.TestActivityEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(silent{})
	env := suite.NewTestActivityEnvironment()
	return env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{slots.Interceptor()}})
}

// TestPollingIsNoLatency has a slot wait for its activity for a minute.
func TestPollingIsNoLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, slots := fixed(2)
		env := environment(slots)
		work := func(context.Context) error { time.Sleep(time.Second); return nil }
		env.RegisterActivity(work)
		for range 5 {
			permit := reserve(t, slots)
			time.Sleep(time.Minute)
			if s := lim.Snapshot(); s.InFlight != 0 || s.Age != 0 {
				t.Errorf("while the worker polls: %d in flight, of age %v", s.InFlight, s.Age)
			}
			must.Have(env.ExecuteActivity(work))(t)
			slots.ReleaseSlot(released{permit: permit})
		}
		if s := lim.Snapshot(); s.Succeeded != 5 || s.EWMA < 950*time.Millisecond || s.EWMA > 1050*time.Millisecond {
			t.Errorf("%d succeeded, latency %v, want 5 and 1 s", s.Succeeded, s.EWMA)
		}
	})
}

func TestOtherWorkTakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, slots := fixed(2)
		other := must.Have(lim.Acquire(t.Context()))(t)
		mine := reserve(t, slots)
		if slots.TryReserveSlot(nil) != nil {
			t.Error("a third slot")
		}
		var got *worker.SlotPermit
		var poller sync.WaitGroup
		poller.Go(func() { got = reserve(t, slots) })
		synctest.Wait()
		if got != nil {
			t.Error("a third slot")
		}
		other.Release()
		poller.Wait()
		slots.ReleaseSlot(released{permit: mine})
		slots.ReleaseSlot(released{permit: mine})                 // already back
		slots.ReleaseSlot(released{permit: &worker.SlotPermit{}}) // of somebody else
		if slots.TryReserveSlot(nil) == nil {
			t.Error("no slot though one is back")
		}
		if slots.TryReserveSlot(nil) != nil {
			t.Error("one slot too many: it came back twice")
		}
	})
}

// TestPollerPressesOnce has a poller wait for a minute. Its worker polls with the only slot at
// first, and works then.
func TestPollerPressesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, slots := fixed(1)
		reserve(t, slots)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var poller sync.WaitGroup
		poller.Go(func() { _, _ = slots.ReserveSlot(ctx, nil) })
		time.Sleep(time.Second)
		if s := lim.Snapshot(); len(s.Refused) != 0 {
			t.Errorf("refused %v while the worker polls", s.Refused)
		}
		work := must.Have(lim.Acquire(t.Context()))(t)
		poller.Wait()
		work.Release()
		if s := lim.Snapshot(); len(s.Refused) != 1 || s.Refused[weir.ReasonLimitReached] != 1 {
			t.Errorf("refused %v, want one for the limit", s.Refused)
		}
	})
}

func TestSlotsFollowTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, slots := fixed(4)
		for range 4 {
			reserve(t, slots)
		}
		var more sync.WaitGroup
		for range 2 {
			more.Go(func() { reserve(t, slots) })
		}
		synctest.Wait()
		must.Do(t, lim.Update(weir.Config{Name: "database", Law: law.Fixed{Limit: 6}}))
		more.Wait()
		if slots.TryReserveSlot(nil) != nil {
			t.Error("a seventh slot")
		}
	})
}

func TestReserveSlotEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, slots := fixed(1)
		reserve(t, slots)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		if permit, err := slots.ReserveSlot(ctx, nil); permit != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", permit, err)
		}
	})
}

// TestShadowHoldsNothingBack checks that a shadow limiter grants every slot up to Max.
func TestShadowHoldsNothingBack(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{Name: "database", Law: law.Fixed{}, Initial: 1, Max: 5, Shadow: true}))
	slots := weirtemporal.New(lim)
	n := 0
	for slots.TryReserveSlot(nil) != nil {
		n++
	}
	if n != 5 {
		t.Errorf("%d slots, want 5", n)
	}
}

// TestRefusedActivitiesRun because the server has handed them out.
func TestRefusedActivitiesRun(t *testing.T) {
	lim, slots := fixed(2)
	env := environment(slots)
	ran := 0
	work := func(context.Context) error { ran++; return nil }
	env.RegisterActivity(work)
	permit := reserve(t, slots)
	lim.Close()
	if _, err := env.ExecuteActivity(work); err != nil || ran != 1 {
		t.Errorf("%v, ran %d times", err, ran)
	}
	slots.ReleaseSlot(released{permit: permit})
	if s := lim.Snapshot(); s.Admitted != 0 || s.Refused[weir.ReasonClosed] != 1 {
		t.Errorf("%+v", s)
	}
}

func TestOutcomes(t *testing.T) {
	benign := temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign}
	for name, c := range map[string]struct {
		end  func() error
		want limittest.Taught
	}{
		"success":                    {func() error { return nil }, limittest.Taught{Succeeded: 1}},
		"failure":                    {func() error { return errors.New("odd") }, limittest.Taught{Failed: 1}},
		"panic":                      {func() error { panic("odd") }, limittest.Taught{Failed: 1}},
		"timeout":                    {func() error { return context.DeadlineExceeded }, limittest.Taught{TimedOut: 1}},
		"cancelled":                  {func() error { return temporal.NewCanceledError() }, limittest.Taught{Ignored: 1}},
		"completed elsewhere":        {func() error { return activity.ErrResultPending }, limittest.Taught{Ignored: 1}},
		"benign":                     {func() error { return temporal.NewApplicationErrorWithOptions("none yet", "none", benign) }, limittest.Taught{Ignored: 1}},
		"refused by another limiter": {func() error { return weir.ErrQueueFull }, limittest.Taught{Overloaded: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			lim, slots := fixed(1)
			env := environment(slots)
			work := func(context.Context) error { return c.end() }
			env.RegisterActivity(work)
			_, _ = env.ExecuteActivity(work)
			limittest.Check(t, lim, c.want)
		})
	}
}

// An exiting interceptor ends the goroutine of an activity.
type exiting struct {
	interceptor.WorkerInterceptorBase
}

func (*exiting) InterceptActivity(context.Context, interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &exit{}
}

type exit struct {
	interceptor.ActivityInboundInterceptorBase
}

func (*exit) Init(interceptor.ActivityOutboundInterceptor) error { return nil }

func (*exit) ExecuteActivity(context.Context, *interceptor.ExecuteActivityInput) (any, error) {
	runtime.Goexit()
	return nil, nil
}

func TestActivityThatEndsItsGoroutine(t *testing.T) {
	lim, slots := fixed(1)
	env := environment(slots).SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{slots.Interceptor(), &exiting{}}})
	work := func(context.Context) error { return nil }
	env.RegisterActivity(work)
	limittest.Unwind(func() { _, _ = env.ExecuteActivity(work) })
	limittest.Check(t, lim, limittest.Taught{Failed: 1})
}

func TestPluginRejects(t *testing.T) {
	_, c := newFrontend(t)
	_, slots := fixed(1)
	for _, options := range []worker.Options{{MaxConcurrentActivityExecutionSize: 5}, {EnableSessionWorker: true}} {
		options.Plugins = []worker.Plugin{slots.Plugin()}
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, weir.ErrConfig) {
					t.Errorf("%+v: %v", options, err)
				}
			}()
			worker.New(c, "tasks", options)
		}()
	}
}

func TestNewOfNilPanics(t *testing.T) {
	limittest.Panics(t, map[string]func(){"New of nil": func() { weirtemporal.New(nil) }})
}
