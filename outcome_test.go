package weir_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

func TestClassification(t *testing.T) {
	for _, c := range []struct {
		err  error
		want weir.Outcome
	}{
		{nil, weir.Success},
		{context.Canceled, weir.Abandoned},
		{fmt.Errorf("query: %w", context.Canceled), weir.Abandoned},
		{context.DeadlineExceeded, weir.Timeout},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), weir.Timeout},
		{weir.ErrExecutionTimeout, weir.Timeout},
		{errors.Join(context.Canceled, context.DeadlineExceeded), weir.Timeout},
		{errors.New("boom"), weir.Failure},
		{fmt.Errorf("query: %w", weir.ErrDeadline), weir.Overloaded},
		{&weir.RefusedError{Reason: weir.ReasonDeadline}, weir.Overloaded},
		{errors.Join(context.Canceled, weir.ErrRefused), weir.Overloaded},
		{os.ErrNotExist, weir.Failure},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, weir.Timeout},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, weir.Failure},
	} {
		if got := weir.Classify(c.err); got != c.want {
			t.Errorf("%v is classified as %v: want %v", c.err, got, c.want)
		}
	}
}

func TestOutcomeInWords(t *testing.T) {
	for o, want := range []string{"success", "failure", "timeout", "ignored", "overloaded", "late", "abandoned", "ignored"} {
		if got := weir.Outcome(o).String(); got != want {
			t.Errorf("outcome %d is %q, want %q", o, got, want)
		}
	}
}

func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{}))
		permit := must.Have(lim.Acquire(t.Context()))(t)
		time.Sleep(time.Second)
		permit.Finish(weir.Late)
		s := lim.Snapshot()
		if s.Late != 1 || s.Succeeded != 0 || s.Completed != 1 || s.Mean != time.Second {
			t.Errorf("%d late, %d succeeded, a mean of %v: want 1, 0, 1s", s.Late, s.Succeeded, s.Mean)
		}
	})
}

// A Classify of the caller's own gets the error that the work returned.
func TestClassifySeesTheErrorOfTheWork(t *testing.T) {
	var seen error
	l := newLimiter(t, weir.Config{Classify: func(err error) weir.Outcome {
		seen = err
		return weir.Success
	}})
	ctx, cancel := context.WithCancel(t.Context())
	returned := fmt.Errorf("partial answer: %w", context.Canceled)
	_ = l.Do(ctx, func(context.Context) error {
		cancel()
		return returned
	})
	if seen != returned {
		t.Errorf("Classify was shown %q: want %q", seen, returned)
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

// pushed returns a limiter of ten slots after the given number of refusals by the downstream,
// with a time to come back.
func pushed(t *testing.T, times int, after time.Duration) *weir.Limiter {
	t.Helper()
	lim := weir.Must(weir.New(weir.Config{Law: law.Fixed{Limit: 10}, Max: 10}))
	refuse(t, lim, times, after)
	return lim
}

// refuse reports refusals by the downstream, one in 40 ms, with a time to come back.
func refuse(t *testing.T, lim *weir.Limiter, times int, after time.Duration) {
	t.Helper()
	for range times {
		time.Sleep(40 * time.Millisecond)
		permit := must.Have(lim.Acquire(t.Context()))(t)
		permit.Pushback(after)
		permit.Finish(weir.Overloaded)
	}
}

const inARow = 32

func TestPushback(t *testing.T) {
	for name, c := range map[string]struct {
		times       int
		after, away time.Duration
	}{
		"all of late":  {inARow, 5 * time.Second, 5 * time.Second},
		"some of late": {inARow - 1, 5 * time.Second, 0},
		"no time":      {inARow, 0, 0},
		"in the past":  {inARow, -time.Hour, 0},
		"years":        {inARow, 1<<63 - 1, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := pushed(t, c.times, c.after)
				sent := func() bool {
					permit, err := lim.Acquire(t.Context())
					defer permit.Release()
					refused, ok := errors.AsType[*weir.RefusedError](err)
					if ok && (!errors.Is(err, weir.ErrPushback) || refused.RetryAfter > c.away || refused.RetryAfter < c.away*9/10) {
						t.Errorf("%v, to come back in %v, want pushback and %v", err, refused.RetryAfter, c.away)
					}
					return err == nil
				}
				if got := sent(); got != (c.away == 0) {
					t.Errorf("at once: sent %v", got)
				}
				time.Sleep(c.away / 10)
				if !sent() {
					t.Error("a tenth of the time later: not sent")
				}
				if got := sent(); got != (c.away == 0) {
					t.Errorf("another one: sent %v", got)
				}
				time.Sleep(c.away)
				for range 2 {
					if !sent() {
						t.Error("when the time is over: not sent")
					}
				}
			})
		})
	}
}

// The first success, or failure, ends it, and earlier refusals no longer count.
func TestPushbackEnds(t *testing.T) {
	for _, answer := range []weir.Outcome{weir.Success, weir.Late, weir.Failure} {
		for _, before := range []int{inARow - 1, inARow} {
			synctest.Test(t, func(t *testing.T) {
				lim := pushed(t, before, time.Minute)
				time.Sleep(6 * time.Second)
				must.Have(lim.Acquire(t.Context()))(t).Finish(answer)
				refuse(t, lim, inARow-1, time.Minute)
				for range 10 {
					must.Have(lim.Acquire(t.Context()))(t)
				}
			})
		}
	}
}

// A client whose work is always refused, however often it comes, does not stop others who succeed
// once a second.
func TestPushbackOfOneClient(t *testing.T) {
	for _, every := range []time.Duration{0, 10 * time.Millisecond} {
		t.Run(every.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lim := pushed(t, 0, 0)
				for range 40 {
					for i := range 2 * inARow {
						if permit, err := lim.Acquire(t.Context()); err == nil {
							if i > 0 { // the first one names no time
								permit.Pushback(time.Hour)
							}
							permit.Finish(weir.Overloaded)
						}
						time.Sleep(every)
					}
					other := must.Have(lim.Acquire(t.Context()))(t)
					time.Sleep(30 * time.Millisecond)
					other.Done(nil)
				}
			})
		})
	}
}

// In shadow mode nothing is refused, and all but one piece would be.
func TestPushbackInShadow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := pushed(t, inARow, time.Minute)
		update(t, lim, weir.Config{Law: law.Fixed{Limit: 10}, Max: 10, Shadow: true})
		for range 10 {
			must.Have(lim.Acquire(t.Context()))(t)
		}
		time.Sleep(6 * time.Second)
		must.Have(lim.Acquire(t.Context()))(t)
		if n := lim.Snapshot().WouldRefuse; n != 10 {
			t.Errorf("%d would be refused: want 10", n)
		}
	})
}

// A limiter within another one names the time itself.
func TestPushbackOfAnInnerLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := pushed(t, 0, 0)
		inner := &weir.RefusedError{Limiter: "inner", Reason: weir.ReasonQueueFull, RetryAfter: time.Second}
		for i := range inARow {
			time.Sleep(40 * time.Millisecond)
			if i%2 == 0 {
				_ = lim.Do(t.Context(), func(context.Context) error { return inner })
				continue
			}
			permit, _ := lim.Acquire(t.Context())
			permit.Done(inner)
		}
		err := lim.Do(t.Context(), func(context.Context) error { return nil })
		if !errors.Is(err, weir.ErrPushback) {
			t.Errorf("%v, want pushback", err)
		}
	})
}
