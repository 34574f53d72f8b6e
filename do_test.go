package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

func TestDoGeneric(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	boom := errors.New("boom")
	v, err := weir.Do(t.Context(), l, func(context.Context) (string, error) { return "partial", boom })
	if v != "partial" || !errors.Is(err, boom) {
		t.Errorf("got %q, %v", v, err)
	}
	hold(t, l, 1)
	n, err := weir.Do(t.Context(), l, func(context.Context) (int, error) {
		t.Error("refused work ran")
		return 7, nil
	})
	if n != 0 || !errors.Is(err, weir.ErrRefused) {
		t.Errorf("got %d, %v", n, err)
	}
}

func TestDoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Timeout: 50 * time.Millisecond})
		began := time.Now()
		err := l.Do(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			if took := time.Since(began); took != 50*time.Millisecond {
				t.Errorf("the context ended after %v", took)
			}
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) ||
				!errors.Is(context.Cause(ctx), weir.ErrExecutionTimeout) {
				t.Errorf("err %v, cause %v", ctx.Err(), context.Cause(ctx))
			}
			time.Sleep(30 * time.Millisecond)
			if n := l.Snapshot().InFlight; n != 1 {
				t.Errorf("%d in flight while the work goes on", n)
			}
			return fmt.Errorf("query: %w", ctx.Err())
		})
		if !errors.Is(err, weir.ErrExecutionTimeout) || !errors.Is(err, context.DeadlineExceeded) ||
			errors.Is(err, weir.ErrRefused) {
			t.Errorf("%v: want an execution timeout, a deadline exceeded and no refusal", err)
		}
		if took := time.Since(began); took != 80*time.Millisecond {
			t.Errorf("returned after %v: want when the function did, 80ms", took)
		}
		if s := l.Snapshot(); s.TimedOut != 1 || s.TimeoutRate != 1 || s.ErrorRate != 1 || s.Samples != 0 {
			t.Errorf("timed out %d, rates %v and %v, %d samples", s.TimedOut, s.TimeoutRate, s.ErrorRate, s.Samples)
		}
		balanced(t, l)
	})
}

// Work that panics, or that calls runtime.Goexit as a failed test does, gives its slot back. Do
// counts both as a failure, and DoneWith a panic. The panic continues.
func TestWorkThatDoesNotReturn(t *testing.T) {
	ends := map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit}
	for way, work := range map[string]func(l *weir.Limiter, end func()){
		"Do": func(l *weir.Limiter, end func()) {
			_ = l.Do(t.Context(), func(context.Context) error { end(); return nil })
		},
		"DoneWith": func(l *weir.Limiter, end func()) {
			permit, _ := l.TryAcquire(t.Context())
			defer permit.DoneWith(nil)
			end()
		},
		"DoneWith of an error": func(l *weir.Limiter, end func()) {
			var err error
			permit, _ := l.TryAcquire(t.Context())
			defer permit.DoneWith(&err)
			end()
		},
	} {
		for how, end := range ends {
			t.Run(way+" "+how, func(t *testing.T) {
				l := fixed(t, 1, weir.Queue{})
				recovered, returned := unwind(func() { work(l, end) })
				if returned || how == "panics" && recovered != "boom" {
					t.Errorf("returned: %v, recovered %v", returned, recovered)
				}
				if s := l.Snapshot(); (way == "Do" || how == "panics") && (s.Failed != 1 || s.Samples != 0) {
					t.Errorf("%d failed and %d succeeded: want one failure", s.Failed, s.Samples)
				}
				balanced(t, l)
			})
		}
	}
	l := fixed(t, 1, weir.Queue{})
	if _, returned := unwind(func() { _ = l.Do(t.Context(), nil) }); returned {
		t.Error("a nil function was called")
	}
	balanced(t, l)
}

// A cancellation is ignored, also with a cause of the caller's own, or if the work returns another
// error.
func TestDoContextReachesTheWork(t *testing.T) {
	gone := errors.New("client gone")
	for _, c := range []struct{ cause, returned error }{{nil, context.Canceled}, {gone, gone}, {nil, gone}} {
		l := fixed(t, 1, weir.Queue{})
		ctx, cancel := context.WithCancelCause(t.Context())
		err := l.Do(ctx, func(ctx context.Context) error {
			cancel(c.cause)
			<-ctx.Done()
			return c.returned
		})
		if s := l.Snapshot(); !errors.Is(err, c.returned) || s.Ignored != 1 || s.Failed != 0 {
			t.Errorf("%v, %d ignored, %d failed", err, s.Ignored, s.Failed)
		}
		balanced(t, l)
	}
}

// An error counts as the execution timeout if that ended the context, and not the caller's
// deadline, or the execution timeout of a limiter around this one.
func TestDoTimeoutIsTheLimitersOwn(t *testing.T) {
	until := func(reason func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			<-ctx.Done()
			return reason(ctx)
		}
	}
	end := until(context.Context.Err)
	errKilled := errors.New("signal: killed")
	killed := func(context.Context) error { return errKilled }
	for name, c := range map[string]struct {
		timeout, deadline time.Duration
		work              func(context.Context) error
		want              error
		own, counted      bool
	}{
		"by its cause":           {timeout: time.Millisecond, work: until(context.Cause), want: weir.ErrExecutionTimeout, own: true, counted: true},
		"in words of its own":    {timeout: time.Millisecond, work: until(killed), want: errKilled, own: true, counted: true},
		"the caller's, likewise": {timeout: time.Second, deadline: time.Millisecond, work: until(killed), want: errKilled, counted: true},
		"the work survives it":   {timeout: time.Millisecond, work: func(context.Context) error { time.Sleep(time.Second); return nil }},
		"the caller's deadline":  {timeout: time.Second, deadline: time.Millisecond, work: end, want: context.DeadlineExceeded, counted: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				l := newLimiter(t, weir.Config{Timeout: c.timeout})
				err := l.Do(ctx, c.work)
				if counted := l.Snapshot().TimedOut == 1; !errors.Is(err, c.want) ||
					errors.Is(err, weir.ErrExecutionTimeout) != c.own || counted != c.counted {
					t.Errorf("%v, counted: %v", err, counted)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		outer := newLimiter(t, weir.Config{Timeout: 20 * time.Millisecond})
		inner := newLimiter(t, weir.Config{Timeout: 10 * time.Second})
		err := outer.Do(t.Context(), func(ctx context.Context) error { return inner.Do(ctx, end) })
		if !errors.Is(err, weir.ErrExecutionTimeout) || !strings.Contains(err.Error(), "20ms") ||
			strings.Contains(err.Error(), "10s") {
			t.Errorf("%v: want the execution timeout of the outer limiter", err)
		}
	})
}

func TestDoTimeoutStartsAfterTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Min: 1, Max: 1, Timeout: 50 * time.Millisecond,
			Queue: weir.Queue{Size: 1, Timeout: time.Second},
		})
		held := hold(t, l, 1)
		time.AfterFunc(100*time.Millisecond, func() { held[0].Done(nil) })
		err := l.Do(t.Context(), func(ctx context.Context) error {
			time.Sleep(40 * time.Millisecond)
			return ctx.Err()
		})
		if err != nil {
			t.Errorf("%v: want time in the queue not to count", err)
		}
	})
}
