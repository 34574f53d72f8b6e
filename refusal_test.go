package weir_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/law"
)

func TestRefusedErrorTellsAll(t *testing.T) {
	l := newLimiter(t, weir.Config{Name: "search", Max: 1})
	hold(t, l, 1)
	_, err := l.Acquire(t.Context())
	var r *weir.RefusedError
	if !errors.As(err, &r) || r.Limiter != "search" || r.Reason != weir.ReasonLimitReached || r.RetryAfter != 0 {
		t.Errorf("%+v", err)
	}
	if got, want := err.Error(), `weir: limiter "search" refused: limit reached`; got != want {
		t.Errorf("%q: want %q", got, want)
	}
}

func TestRefusalsMatchTheirReasonOnly(t *testing.T) {
	all := map[weir.Reason]error{
		weir.ReasonQueueFull: weir.ErrQueueFull, weir.ReasonQueueTimeout: weir.ErrQueueTimeout,
		weir.ReasonDeadline: weir.ErrDeadline, weir.ReasonTooHeavy: weir.ErrTooHeavy, weir.ReasonClosed: weir.ErrClosed,
		weir.ReasonTenantShare: weir.ErrTenantShare, weir.ReasonBreakerOpen: weir.ErrBreakerOpen,
		weir.ReasonOverload: weir.ErrOverload, weir.ReasonLimitReached: weir.ErrLimitReached,
	}
	for reason := range all {
		err := fmt.Errorf("handler: %w", &weir.RefusedError{Reason: reason})
		for other, sentinel := range all {
			if errors.Is(err, sentinel) != (other == reason) {
				t.Errorf("%v matches %v: %v", err, sentinel, other != reason)
			}
			if !errors.Is(sentinel, weir.ErrRefused) ||
				errors.Is(sentinel, context.DeadlineExceeded) != (other == weir.ReasonDeadline) {
				t.Errorf("%v is no refusal", sentinel)
			}
		}
		if !errors.Is(err, weir.ErrRefused) ||
			errors.Is(err, context.DeadlineExceeded) != (reason == weir.ReasonDeadline) ||
			errors.Is(err, weir.ErrExecutionTimeout) {
			t.Errorf("%v matches the wrong roots", err)
		}
		if text, _ := reason.MarshalText(); string(text) != reason.String() {
			t.Errorf("%s: want %v", text, reason)
		}
	}
}

// Without a queue, or for work that does not wait, the reason is not a full queue.
func TestWithoutAQueueTheLimitIsReached(t *testing.T) {
	plain := fixed(t, 1, weir.Queue{})
	_ = hold(t, plain, 1)
	if _, err := plain.Acquire(t.Context()); !errors.Is(err, weir.ErrLimitReached) ||
		errors.Is(err, weir.ErrQueueFull) {
		t.Errorf("without a queue: %v", err)
	}
	queued := fixed(t, 1, weir.Queue{Size: 1})
	_ = hold(t, queued, 1)
	if _, ok := queued.TryAcquire(t.Context()); ok {
		t.Fatal("admitted above the limit")
	}
	for _, l := range []*weir.Limiter{plain, queued} {
		if r := l.Snapshot().Refused; r[weir.ReasonLimitReached] != 1 || len(r) != 1 {
			t.Errorf("refused %v, want one because the limit was reached", r)
		}
	}
}

func TestCancelledWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 1})
		held := hold(t, l, 1)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		waiting := ask(ctx, l, 1)
		waits(t, waiting)
		cancel(gone)
		if a := now(t, waiting); !errors.Is(a.err, gone) || errors.Is(a.err, weir.ErrRefused) || a.after != 0 {
			t.Errorf("%v after %v", a.err, a.after)
		}
		if s := l.Snapshot(); s.Cancelled != 1 || s.RefusedTotal() != 0 || s.Queued != 0 || s.Admitted != 1 {
			t.Error(l)
		}
		held[0].Done(nil)
		balanced(t, l)
	})
}

func TestCallersDeadlineWhileQueuedIsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 1})
		hold(t, l, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err := l.Acquire(ctx)
		if s := l.Snapshot(); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, weir.ErrRefused) ||
			s.Cancelled != 1 {
			t.Errorf("%v, %d cancelled", err, s.Cancelled)
		}
	})
}

// busy makes a limiter of one slot measure work of 100 ms.
func busy(t *testing.T, l *weir.Limiter) {
	t.Helper()
	load(t.Context(), l, 1, time.Second, always(100*time.Millisecond))
	if s := l.Snapshot(); s.DrainRate < 9.99 || s.DrainRate > 10.01 {
		t.Fatalf("drain rate %v: want 10 a second", s.DrainRate)
	}
}

func TestDeadlineThatCannotBeMetIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ given, heldFor, after time.Duration }{
		"on arrival":   {60 * time.Millisecond, time.Second, 0},
		"at its turn":  {220 * time.Millisecond, 150 * time.Millisecond, 150 * time.Millisecond},
		"half of it":   {160 * time.Millisecond, time.Second, 0},
		"or is served": {280 * time.Millisecond, 150 * time.Millisecond, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fixed(t, 1, weir.Queue{Size: 5})
				busy(t, l)
				held := hold(t, l, 1)
				time.AfterFunc(c.heldFor, func() { held[0].Release() })
				ctx, cancel := context.WithTimeout(t.Context(), c.given)
				defer cancel()
				began := time.Now()
				permit, err := l.Acquire(ctx)
				if c.after < 0 {
					if err != nil {
						t.Fatal(err)
					}
					permit.Done(nil)
					return
				}
				if !errors.Is(err, weir.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) ||
					time.Since(began) != c.after {
					t.Errorf("%v after %v: want a refusal after %v", err, time.Since(began), c.after)
				}
				if s := l.Snapshot(); s.Refused[weir.ReasonDeadline] != 1 || s.Cancelled != 0 {
					t.Error(l)
				}
			})
		})
	}
}

func TestRetryAfterIsTheTimeToDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fixed(t, 1, weir.Queue{Size: 2})
		busy(t, l)
		hold(t, l, 1)
		ask(t.Context(), l, 1)
		ask(t.Context(), l, 1)
		for range 3 {
			_, err := l.Acquire(t.Context())
			var r *weir.RefusedError
			if !errors.As(err, &r) {
				t.Fatal(err)
			}
			// two wait, at 10 a second; refusals do not count
			if off := r.RetryAfter - 300*time.Millisecond; off.Abs() > time.Millisecond {
				t.Errorf("come back after %v: want 300ms", r.RetryAfter)
			}
		}
		synctest.Wait()
		l.Close()
		_, err := l.Acquire(t.Context())
		var r *weir.RefusedError
		if !errors.As(err, &r) || r.RetryAfter != 0 {
			t.Errorf("%+v: a closed limiter does not reopen", r)
		}
	})
}

func TestClassification(t *testing.T) {
	for _, c := range []struct {
		err  error
		want weir.Outcome
	}{
		{nil, weir.Success},
		{context.Canceled, weir.Ignore},
		{fmt.Errorf("query: %w", context.Canceled), weir.Ignore},
		{context.DeadlineExceeded, weir.Timeout},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), weir.Timeout},
		{weir.ErrExecutionTimeout, weir.Timeout},
		{errors.Join(context.Canceled, context.DeadlineExceeded), weir.Timeout},
		{errors.New("boom"), weir.Failure},
		{fmt.Errorf("query: %w", weir.ErrDeadline), weir.Overloaded},
		{&weir.RefusedError{Reason: weir.ReasonDeadline}, weir.Overloaded},
		{errors.Join(context.Canceled, weir.ErrRefused), weir.Overloaded},
		{os.ErrNotExist, weir.Failure},
	} {
		if got := weir.Classify(c.err); got != c.want {
			t.Errorf("%v is classified as %d: want %d", c.err, got, c.want)
		}
	}
}

// A refusal by another limiter counts as an overload, even once the caller's deadline has
// passed or the execution timeout is over.
func TestInnerRefusalStaysAnOverload(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"deadline": 0, "execution timeout": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(t, weir.Config{Timeout: timeout})
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second-timeout)
				defer cancel()
				if timeout > 0 {
					ctx = t.Context()
				}
				err := l.Do(ctx, func(ctx context.Context) error {
					<-ctx.Done()
					return fmt.Errorf("inner: %w", &weir.RefusedError{Reason: weir.ReasonDeadline})
				})
				if s := l.Snapshot(); s.Overloaded != 1 || s.TimedOut != 0 || errors.Is(err, weir.ErrExecutionTimeout) {
					t.Errorf("%d overloaded, %d timed out: %v", s.Overloaded, s.TimedOut, err)
				}
			})
		})
	}
}

func TestFailuresAreNotInTheQuantiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Law: watching(&windows), MinSamples: 1})
		for _, end := range []struct {
			after time.Duration
			err   error
		}{
			{10 * time.Millisecond, nil},
			{10 * time.Millisecond, nil},
			{100 * time.Millisecond, errors.New("boom")},
			{200 * time.Millisecond, context.DeadlineExceeded},
			{300 * time.Millisecond, context.Canceled},
		} {
			p := hold(t, l, 1)[0]
			time.Sleep(end.after)
			p.Done(end.err)
		}
		p := hold(t, l, 1)[0]
		time.Sleep(time.Second)
		p.Release()

		s := l.Snapshot()
		if s.Samples != 2 || s.P99 > 11*time.Millisecond || s.Mean != 10*time.Millisecond {
			t.Errorf("%d samples, p99 %v, mean %v: want 2 of 10ms", s.Samples, s.P99, s.Mean)
		}
		if s.ErrorRate != 0.5 || s.TimeoutRate != 0.25 || s.Failed != 1 || s.TimedOut != 1 || s.Ignored != 2 ||
			s.Completed != 6 {
			t.Error(l)
		}
		if len(windows) != 1 {
			t.Fatalf("%d windows", len(windows))
		}
		if w := windows[0]; w.Samples != 2 || w.Failures != 1 || w.Timeouts != 1 ||
			w.Quantile(1) > 11*time.Millisecond {
			t.Errorf("the law was shown %+v", w)
		}
	})
}

func TestQueueWaitIsNotInTheLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var windows []law.Window
		l := newLimiter(t, weir.Config{Max: 1, Law: watching(&windows), MinSamples: 1, Queue: weir.Queue{Size: 1}})
		held := hold(t, l, 1)
		waiting := ask(t.Context(), l, 1)
		time.Sleep(500 * time.Millisecond)
		held[0].Release()
		p := admitted(t, waiting)
		time.Sleep(20 * time.Millisecond)
		p.Done(nil)
		if got := p.Waited(); got != 500*time.Millisecond {
			t.Errorf("waited %v: want 500ms", got)
		}
		if s := l.Snapshot(); s.Mean != 20*time.Millisecond || s.QueueWait != 500*time.Millisecond {
			t.Errorf("mean latency %v, queue wait %v: want 20ms and 500ms", s.Mean, s.QueueWait)
		}
		time.Sleep(time.Second)
		hold(t, l, 1)[0].Release()
		if w := windows[0]; w.Mean != 20*time.Millisecond || w.QueueWait != 500*time.Millisecond || w.Waited != 1 {
			t.Errorf("the law was shown %+v", w)
		}
	})
}

// The core's verdicts become reasons by their number.
func TestReasonsAreThoseOfTheCore(t *testing.T) {
	core := map[weir.Reason]reply.Verdict{
		weir.ReasonBadKey: reply.BadKey, weir.ReasonTenantShare: reply.OverShare, weir.ReasonQueueFull: reply.QueueFull,
		weir.ReasonQueueTimeout: reply.QueueTimeout, weir.ReasonDeadline: reply.Deadline,
		weir.ReasonTooHeavy: reply.TooHeavy,
		weir.ReasonClosed:   reply.Closed, weir.ReasonBreakerOpen: reply.BreakerOpen, weir.ReasonOverload: reply.Overload,
		weir.ReasonLimitReached: reply.LimitReached, weir.ReasonPace: reply.Paced, weir.ReasonPushback: reply.PushedBack,
	}
	for reason, verdict := range core {
		if reason != weir.Reason(verdict) {
			t.Errorf("%v is %d, and %d in the core", reason, reason, verdict)
		}
	}
	texts := map[string]bool{}
	for _, reason := range weir.Reasons() {
		if _, named := core[reason]; !named || texts[reason.String()] {
			t.Errorf("%d, %q, has no exported name, or no text of its own", reason, reason)
		}
		texts[reason.String()] = true
	}
	if len(core) != len(weir.Reasons()) {
		t.Errorf("%d reasons, of which %d are told", len(core), len(weir.Reasons()))
	}
}
