package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// A caller is one drawn request: its arrival, its work and wait times, and its end.
type caller struct {
	At, Work, Timeout, Cancel time.Duration // 0 means no Timeout or Cancel
	Way                       string
	Weight                    int
	Priority                  weir.Priority
}

// A change is an update of the limiter, or its end.
type change struct {
	At     time.Duration
	End    string // "close" or "shutdown", or Config applies
	Config weir.Config
}

// For any callers of a live limiter, however they leave: the work in flight stays within the
// limit, every caller gets an answer, the hook gets each refusal once, and nothing remains.
func TestLimiterAnswersEverybody(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		config := drawConfig().Draw(rt, "config")
		callers := rapid.SliceOfN(drawCaller(), 10, 40).Draw(rt, "callers")
		changes := rapid.SliceOfN(drawChange(), 0, 4).Draw(rt, "changes")
		observed := rapid.Bool().Draw(rt, "observed")
		var problem error
		synctest.Test(t, func(t *testing.T) {
			var hook *limittest.Journal
			if observed {
				hook = &limittest.Journal{}
			}
			problem = crowd(config, callers, changes, hook)
			if hook != nil {
				hook.Gapless(t)
			}
		})
		if problem != nil {
			rt.Fatal(problem)
		}
	})
}

func drawConfig() *rapid.Generator[weir.Config] {
	return rapid.Custom(func(t *rapid.T) weir.Config {
		c := weir.Config{
			Max: rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "max"),
			Law: rapid.SampledFrom([]law.Law{
				law.Fixed{}, law.Band{Target: 5 * time.Millisecond}, law.Band{Target: time.Second},
			}).Draw(t, "law"),
			Queue: weir.Queue{
				Size: rapid.SampledFrom([]int{0, 1, 3, 20}).Draw(t, "size"),
				Timeout: rapid.SampledFrom([]time.Duration{
					time.Millisecond, 30 * time.Millisecond, math.MaxInt64,
				}).Draw(t, "patience"),
				Discipline: rapid.SampledFrom([]weir.Discipline{weir.FIFO, weir.Adaptive}).Draw(t, "discipline"),
			},
			Interval:   10 * time.Millisecond,
			MinSamples: 2,
			Histograms: true,
			Timeout:    rapid.SampledFrom([]time.Duration{0, 5 * time.Millisecond}).Draw(t, "timeout"),
		}
		if c.Queue.Size == 0 && c.Queue.Discipline == weir.FIFO {
			c.Queue.Timeout = 0 // there is no queue
		}
		return c
	})
}

func drawCaller() *rapid.Generator[caller] {
	some := rapid.SampledFrom([]time.Duration{
		0, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond,
		20 * time.Millisecond,
	})
	return rapid.Custom(func(t *rapid.T) caller {
		return caller{
			At: some.Draw(t, "at"), Work: some.Draw(t, "work"),
			Timeout: rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 5 * time.Millisecond, time.Hour}).Draw(t, "timeout"),
			Cancel:  rapid.SampledFrom([]time.Duration{0, 0, 0, 1, 10 * time.Millisecond, time.Hour}).Draw(t, "cancel"),
			Way:     rapid.SampledFrom([]string{"do", "panic", "fail", "acquire", "try", "twice"}).Draw(t, "way"),
			Weight:  rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, "weight"),
			Priority: rapid.SampledFrom([]weir.Priority{
				weir.PriorityCritical, weir.PriorityHigh, weir.PriorityNormal, weir.PriorityLow,
			}).Draw(t, "priority"),
		}
	})
}

func drawChange() *rapid.Generator[change] {
	return rapid.Custom(func(t *rapid.T) change {
		c := change{
			At: rapid.SampledFrom([]time.Duration{
				0, 5 * time.Millisecond, 10 * time.Millisecond, 40 * time.Millisecond,
			}).Draw(t, "at"),
			Config: drawConfig().Draw(t, "config"),
		}
		if oneIn(t, 5, "ends") {
			c.End = rapid.SampledFrom([]string{"close", "shutdown"}).Draw(t, "end")
		}
		return c
	})
}

// A hall is the limiter under test with counters of the callers inside.
type hall struct {
	*weir.Limiter
	most                       int64 // the highest limit so far
	inside                     atomic.Int64
	admitted, refused, givenUp atomic.Uint64

	mu      sync.Mutex
	problem error
}

func (h *hall) fail(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.problem == nil {
		h.problem = fmt.Errorf(format, args...)
	}
}

// crowd runs all callers, beside a hook if it is not nil, and returns the first fault.
func crowd(config weir.Config, callers []caller, changes []change, hook *limittest.Journal) error {
	most := int64(config.Max)
	for i, c := range changes {
		most = max(most, int64(c.Config.Max))
		if hook != nil {
			changes[i].Config.OnEvent = hook.Note
		}
	}
	if hook != nil {
		config.OnEvent = hook.Note
	}
	h := &hall{Limiter: weir.Must(weir.New(config)), most: most}
	var everybody sync.WaitGroup
	for _, c := range callers {
		everybody.Go(func() {
			time.Sleep(c.At)
			h.visit(c)
		})
	}
	for _, c := range changes {
		everybody.Go(func() {
			time.Sleep(c.At)
			h.apply(c)
		})
	}
	began := time.Now()
	everybody.Wait()
	if took := time.Since(began); took > 2*time.Second { // longer than all work in sequence
		h.fail("somebody was forgotten for %v", took)
	}

	s := h.Snapshot()
	refused := uint64(0)
	for _, n := range s.Refused {
		refused += n
	}
	late := h.givenUp.Load() - s.Cancelled // left at the instant of their admission
	switch {
	case s.InFlight != 0 || s.Queued != 0 || s.Age != 0:
		h.fail("left behind: %d in flight, %d queued, the oldest for %v", s.InFlight, s.Queued, s.Age)
	case s.Admitted != s.Completed || s.Admitted != h.admitted.Load()+late:
		h.fail("%d admitted and %d completed, but %d came in", s.Admitted, s.Completed, h.admitted.Load())
	case refused != h.refused.Load() || s.Cancelled > h.givenUp.Load():
		h.fail("%d refused and %d cancelled, but %d and %d were told so", refused, s.Cancelled, h.refused.Load(),
			h.givenUp.Load())
	case hook != nil && uint64(len(hook.Of(weir.Refused))) != refused:
		h.fail("%d events of %d refusals", len(hook.Of(weir.Refused)), refused)
	}
	return h.problem
}

func (h *hall) apply(c change) {
	switch c.End {
	case "close":
		h.Close()
	case "shutdown":
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		if err := h.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			h.fail("shutdown: %v", err)
		}
	default:
		if err := h.Update(c.Config); err != nil {
			h.fail("update: %v", err)
		}
	}
}

// work runs an admitted caller.
func (h *hall) work(c caller, weight int) error {
	h.admitted.Add(1)
	if now := h.inside.Add(int64(weight)); now > h.most {
		h.fail("%d run at once, the limit was never above %d", now, h.most)
	}
	if s := h.Snapshot(); s.Peak < s.InFlight || s.Latencies.Count != s.Succeeded {
		h.fail("%+v: want a snapshot of one moment", s)
	}
	time.Sleep(c.Work)
	h.inside.Add(-int64(weight))
	switch c.Way {
	case "panic":
		panic(c)
	case "fail":
		return errors.New("failed")
	}
	return nil
}

func (h *hall) visit(c caller) {
	ctx := weir.WithPriority(context.Background(), c.Priority)
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	if c.Cancel > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		time.AfterFunc(c.Cancel, cancel)
	}
	switch c.Way {
	case "do", "fail", "panic":
		ran := false
		defer func() {
			if r := recover(); r != nil && r != any(c) {
				h.fail("panic: %v", r)
			}
		}()
		err := h.Do(ctx, func(context.Context) error {
			ran = true
			return h.work(c, 1)
		})
		if !ran {
			h.turnedAway(ctx, err)
		}
	case "try":
		permit, err := h.TryAcquire(ctx)
		if err != nil {
			h.turnedAway(ctx, err)
			return
		}
		permit.Done(h.work(c, 1))
	default:
		asked := time.Now()
		permit, err := h.AcquireN(ctx, c.Weight)
		if err != nil {
			h.turnedAway(ctx, err)
			return
		}
		if took := time.Since(asked); took != permit.Waited() {
			h.fail("admitted after %v, but heard of it after %v", permit.Waited(), took)
		}
		err = h.work(c, c.Weight)
		permit.Done(err)
		if c.Way == "twice" {
			permit.Release()
		}
	}
}

// turnedAway checks the error of a caller that was not admitted.
func (h *hall) turnedAway(ctx context.Context, err error) {
	switch {
	case errors.Is(err, weir.ErrRefused):
		h.refused.Add(1)
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		h.givenUp.Add(1)
	default:
		h.fail("turned away with %v", err)
	}
}
