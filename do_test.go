package weir_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

func TestDoRunsOnTheCallersGoroutineAndReturnsItsError(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	boom := errors.New("boom")
	var inFlight int
	err := l.Do(t.Context(), func(context.Context) error {
		inFlight = l.Snapshot().InFlight
		return boom
	})
	if err != boom || inFlight != 1 {
		t.Errorf("got %v with %d in flight: want the function's own error, and 1", err, inFlight)
	}
	balanced(t, l)
}

func TestDoPanicGoesOn(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v: want boom", r)
			}
		}()
		_ = l.Do(t.Context(), func(context.Context) error { panic("boom") })
	}()
	if s := l.Snapshot(); s.Failed != 1 {
		t.Errorf("%d failures: want 1", s.Failed)
	}
	balanced(t, l)
}

func TestDoGoexitFreesTheSlot(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = l.Do(t.Context(), func(context.Context) error { runtime.Goexit(); return nil })
	}()
	<-done
	if s := l.Snapshot(); s.Failed != 1 {
		t.Errorf("%d failures: want 1", s.Failed)
	}
	balanced(t, l)
}

func TestDoNilFunctionFreesTheSlot(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	func() {
		defer func() { _ = recover() }()
		_ = l.Do(t.Context(), nil)
	}()
	balanced(t, l)
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

func TestDoTimeoutByCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Timeout: time.Millisecond})
		err := l.Do(t.Context(), func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if s := l.Snapshot(); !errors.Is(err, weir.ErrExecutionTimeout) || s.TimedOut != 1 {
			t.Errorf("%v, %d timed out", err, s.TimedOut)
		}
	})
}

func TestDoTimeoutThatTheWorkSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Timeout: time.Millisecond})
		err := l.Do(t.Context(), func(context.Context) error {
			time.Sleep(time.Second)
			return nil
		})
		if err != nil {
			t.Errorf("%v: want what the function returned", err)
		}
	})
}

func TestDoTimeoutIsNotTheCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{Timeout: time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		err := l.Do(ctx, func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, weir.ErrExecutionTimeout) {
			t.Errorf("%v: want the caller's deadline", err)
		}
		if s := l.Snapshot(); s.TimedOut != 1 {
			t.Errorf("%d timed out: want 1", s.TimedOut)
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

func TestDoNilContext(t *testing.T) {
	l := fixed(t, 1, weir.Queue{Size: 1})
	var none context.Context
	ran := false
	err := l.Do(none, func(ctx context.Context) error {
		ran = ctx != nil
		return nil
	})
	if err != nil || !ran {
		t.Errorf("%v, ran with a context: %v", err, ran)
	}
	permit, err := l.AcquireN(none, 1)
	if err != nil {
		t.Fatal(err)
	}
	permit.Done(nil)
	balanced(t, l)
}

func TestDoAlreadyCancelled(t *testing.T) {
	l := fixed(t, 1, weir.Queue{Size: 1})
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	err := l.Do(ctx, func(context.Context) error {
		t.Error("cancelled work ran")
		return nil
	})
	s := l.Snapshot()
	if !errors.Is(err, gone) || errors.Is(err, weir.ErrRefused) || s.Cancelled != 1 || s.RefusedTotal() != 0 ||
		s.Admitted != 0 {
		t.Errorf("%v; %v", err, l)
	}
}

func TestDoContextReachesTheWork(t *testing.T) {
	l := fixed(t, 1, weir.Queue{})
	ctx, cancel := context.WithCancel(t.Context())
	err := l.Do(ctx, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	if s := l.Snapshot(); !errors.Is(err, context.Canceled) || s.Ignored != 1 || s.Failed != 0 {
		t.Errorf("%v, %d ignored, %d failed", err, s.Ignored, s.Failed)
	}
	balanced(t, l)
}
