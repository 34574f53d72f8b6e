package weirriver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/weirriver"
)

var thumbnail = &rivertype.JobRow{Kind: "thumbnail", Queue: river.QueueDefault, Priority: river.PriorityDefault}

func returning(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// fixed returns a limiter with a fixed limit, and the middleware before it.
func fixed(limit int, queue weir.Queue) (*weir.Limiter, *weirriver.Middleware) {
	lim := weir.Must(weir.New(weir.Config{Name: "images", Law: law.Fixed{Limit: limit}, Queue: queue}))
	return lim, &weirriver.Middleware{Admitter: weirriver.One(lim)}
}

func TestOutcomes(t *testing.T) {
	odd := errors.New("odd")
	for _, c := range []struct {
		name      string
		cancelled bool // while it runs
		err       error
		want      limittest.Taught
	}{
		{"success", false, nil, limittest.Taught{Succeeded: 1}},
		{"failure", false, odd, limittest.Taught{Failed: 1}},
		{"timeout of the job", false, fmt.Errorf("read: %w", context.DeadlineExceeded), limittest.Taught{TimedOut: 1}},
		{"timeout of a connection", false, os.ErrDeadlineExceeded, limittest.Taught{TimedOut: 1}},
		{"snooze", false, fmt.Errorf("later: %w", river.JobSnooze(time.Minute)), limittest.Taught{Ignored: 1}},
		{"cancel", false, fmt.Errorf("gone: %w", river.JobCancel(odd)), limittest.Taught{Ignored: 1}},
		{"refusal by another limiter", false, weir.ErrQueueFull, limittest.Taught{Overloaded: 1}},
		{"cancelled while it ran", true, odd, limittest.Taught{Ignored: 1}},
		{"success though cancelled", true, nil, limittest.Taught{Succeeded: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lim, limit := fixed(1, weir.Queue{})
			ctx, cancel := context.WithCancelCause(t.Context())
			err := limit.Work(ctx, thumbnail, func(context.Context) error {
				if c.cancelled {
					cancel(rivertype.ErrJobCancelledRemotely)
				}
				return c.err
			})
			cancel(nil)
			if err != c.err {
				t.Errorf("River hears %v, want %v", err, c.err)
			}
			limittest.Check(t, lim, c.want)
		})
	}
}

// TestJobsThatNeverReturn panic, or end their goroutine.
func TestJobsThatNeverReturn(t *testing.T) {
	lim, limit := fixed(1, weir.Queue{})
	for _, end := range []func(){func() { panic("odd") }, runtime.Goexit} {
		for range 10 {
			recovered, _ := limittest.Unwind(func() {
				_ = limit.Work(t.Context(), thumbnail, func(context.Context) error { end(); return nil })
			})
			if recovered != nil && recovered != "odd" {
				t.Errorf("River recovers %v", recovered)
			}
		}
	}
	limittest.Check(t, lim, limittest.Taught{Failed: 20})
}

func TestRefusedJobsAreSnoozed(t *testing.T) {
	lim, limit := fixed(1, weir.Queue{})
	err := limit.Work(t.Context(), thumbnail, func(ctx context.Context) error {
		return limit.Work(ctx, thumbnail, func(context.Context) error {
			t.Error("a second job runs")
			return nil
		})
	})
	snooze, ok := errors.AsType[*river.JobSnoozeError](err)
	if !ok || snooze.Duration < 100*time.Millisecond || snooze.Duration > 200*time.Millisecond {
		t.Errorf("got %v, want a snooze of 100 to 200 ms", err) // nothing is known of how long jobs take
	}
	if s := lim.Snapshot(); s.Ignored != 1 || s.Refused[weir.ReasonLimitReached] != 1 {
		t.Errorf("%+v", s)
	}
	lim.Close()
	if err := limit.Work(t.Context(), thumbnail, returning(nil)); !errors.Is(err, &river.JobSnoozeError{}) {
		t.Errorf("a closed limiter: %v", err)
	}
}

func TestJobsThatNoLimiterTakesFail(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	limit := &weirriver.Middleware{Admitter: weirriver.ByKind(set)}
	long := &rivertype.JobRow{Kind: strings.Repeat("x", 1000)}
	if err := limit.Work(t.Context(), long, returning(nil)); !errors.Is(err, bulkhead.ErrKey) || !strings.Contains(err.Error(), "of 1000 bytes") {
		t.Errorf("got %v, want the length of the key", err)
	}
}

func TestWaitingJobsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, limit := fixed(1, weir.Queue{Size: 1, Timeout: time.Hour})
		permit := must.Have(lim.Acquire(t.Context()))(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		time.AfterFunc(time.Minute, func() { cancel(stop) })
		if err := limit.Work(ctx, thumbnail, returning(nil)); !errors.Is(err, stop) {
			t.Errorf("got %v, want the cause", err)
		}
		permit.Release()
		if s := lim.Snapshot(); s.Cancelled != 1 || s.InFlight != 0 || s.Queued != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestPriorities queues one job of each of River's priorities, the lowest first.
func TestPriorities(t *testing.T) {
	for name, c := range map[string]struct {
		priority func(*rivertype.JobRow) weir.Priority
		want     []int
	}{
		"by default":        {nil, []int{1, 4, 3, 2}},
		"each its own lane": {func(j *rivertype.JobRow) weir.Priority { return weir.PriorityCritical + weir.Priority(j.Priority-1) }, []int{1, 2, 3, 4}},
	} {
		synctest.Test(t, func(t *testing.T) {
			lim, limit := fixed(1, weir.Queue{Size: 4, Timeout: time.Hour})
			limit.Priority = c.priority
			permit := must.Have(lim.Acquire(t.Context()))(t)
			var order []int
			var jobs sync.WaitGroup
			for _, p := range []int{4, 3, 2, 1} {
				jobs.Go(func() {
					_ = limit.Work(t.Context(), &rivertype.JobRow{Priority: p}, func(context.Context) error {
						order = append(order, p) // one at a time
						return nil
					})
				})
				synctest.Wait()
			}
			permit.Release()
			jobs.Wait()
			if !slices.Equal(order, c.want) {
				t.Errorf("%s: %v, want %v", name, order, c.want)
			}
		})
	}
}

func TestLatencyIsOfTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim, limit := fixed(1, weir.Queue{Size: 10, Timeout: time.Hour})
		together.Do(10, func(int) {
			_ = limit.Work(t.Context(), thumbnail, func(context.Context) error {
				time.Sleep(time.Second)
				return nil
			})
		})
		if s := lim.Snapshot(); s.Succeeded != 10 || s.Mean < 950*time.Millisecond || s.Mean > 1050*time.Millisecond {
			t.Errorf("%d succeeded, mean latency %v, want 10 and 1 s", s.Succeeded, s.Mean)
		}
	})
}

func TestExemptJobs(t *testing.T) {
	none := map[string]*weir.Limiter{}
	for name, limit := range map[string]*weirriver.Middleware{
		"zero":         {},
		"nil admitter": {Admitter: func(*rivertype.JobRow) weir.Admitter { return nil }},
		"nil limiter":  {Admitter: func(job *rivertype.JobRow) weir.Admitter { return none[job.Kind] }},
	} {
		ran := false
		err := limit.Work(t.Context(), thumbnail, func(context.Context) error { ran = true; return nil })
		if err != nil || !ran {
			t.Errorf("%s: %v, ran: %v", name, err, ran)
		}
	}
}

func TestMistakesPanic(t *testing.T) {
	limittest.Panics(t, map[string]func(){
		"One of nil":     func() { weirriver.One((*weir.Limiter)(nil)) },
		"ByKind of nil":  func() { weirriver.ByKind(nil) },
		"ByQueue of nil": func() { weirriver.ByQueue(nil) },
	})
}
