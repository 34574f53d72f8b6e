package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
	"github.com/weir-go/weir/retry"
)

func newClient(t *testing.T, cfg retry.Config) *retry.Client {
	t.Helper()
	return must.Have(retry.New(cfg))(t)
}

// refusal returns the error of a full server.
func refusal(after time.Duration) error {
	return fmt.Errorf("search: %w", &weir.RefusedError{
		Limiter: "server", Reason: weir.ReasonQueueFull, RetryAfter: after,
	})
}

// script is attempts that end with the given errors in order, and then succeed.
type script struct {
	errs []error
	at   []time.Duration // time of each attempt, since the first
	from time.Time
}

func (s *script) attempt(context.Context) error {
	if s.from.IsZero() {
		s.from = time.Now()
	}
	s.at = append(s.at, time.Since(s.from))
	if n := len(s.at); n <= len(s.errs) {
		return s.errs[n-1]
	}
	return nil
}

func TestDo(t *testing.T) {
	odd, badKey := errors.New("odd"), &weir.RefusedError{Reason: weir.ReasonBadKey}
	soon := refusal(0)
	for name, c := range map[string]struct {
		most     int
		timeout  time.Duration
		errs     []error
		attempts int
		want     error
	}{
		"success":                       {0, 0, nil, 1, nil},
		"a refusal is tried again":      {0, 0, []error{soon}, 2, nil},
		"two are":                       {0, 0, []error{soon, refusal(time.Second)}, 3, nil},
		"three are not":                 {0, 0, []error{soon, soon, soon}, 3, weir.ErrQueueFull},
		"one is not without retries":    {1, 0, []error{soon}, 1, weir.ErrQueueFull},
		"three are if asked for":        {4, 0, []error{soon, soon, soon}, 4, nil},
		"another error is not":          {0, 0, []error{odd}, 1, odd},
		"a plain refusal is":            {0, 0, []error{weir.ErrRefused}, 2, nil},
		"a bad key is not":              {0, 0, []error{badKey}, 1, weir.ErrRefused},
		"cancelled work is not":         {0, 0, []error{context.Canceled}, 1, context.Canceled},
		"a wait of the longest is":      {0, 0, []error{refusal(30 * time.Second)}, 2, nil},
		"a long wait is not":            {0, 0, []error{refusal(31 * time.Second)}, 1, weir.ErrQueueFull},
		"the longest wait is not":       {0, 0, []error{refusal(math.MaxInt64)}, 1, weir.ErrQueueFull},
		"a negative wait is none":       {0, 0, []error{refusal(math.MinInt64)}, 2, nil},
		"no wait beyond the deadline":   {0, time.Second, []error{refusal(time.Second)}, 1, weir.ErrQueueFull},
		"a wait within the deadline":    {0, 3 * time.Second, []error{refusal(time.Second)}, 2, nil},
		"no attempt after the deadline": {0, time.Nanosecond, []error{context.DeadlineExceeded}, 1, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.timeout)
					defer cancel()
				}
				s := &script{errs: c.errs}
				client := newClient(t, retry.Config{Attempts: c.most})
				err := client.Do(ctx, s.attempt)
				if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if len(s.at) != c.attempts {
					t.Errorf("%d attempts, want %d", len(s.at), c.attempts)
				}
				if got := client.Snapshot(); got.Attempts != uint64(c.attempts) || got.Retries != uint64(c.attempts-1) {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

func TestWaitsAreSpread(t *testing.T) {
	for name, c := range map[string]struct {
		cfg         retry.Config
		errs        []error
		least, most time.Duration // until the last attempt
	}{
		"backoff":                  {retry.Config{}, []error{refusal(0)}, 50 * time.Millisecond, 150 * time.Millisecond},
		"backoff doubled":          {retry.Config{}, []error{refusal(0), refusal(0)}, 150 * time.Millisecond, 450 * time.Millisecond},
		"as long as it said":       {retry.Config{}, []error{refusal(10 * time.Second)}, 10 * time.Second, 20 * time.Second},
		"backoff, if it is longer": {retry.Config{Backoff: 20 * time.Second}, []error{refusal(time.Millisecond)}, 10 * time.Second, 30 * time.Second},
		"backoff up to MaxWait": {
			retry.Config{Attempts: 3, Backoff: 45 * time.Minute, MaxWait: time.Hour},
			[]error{refusal(0), refusal(0)},
			(45 + 60) * time.Minute / 2, 3 * (45 + 60) * time.Minute / 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				low, high := time.Duration(math.MaxInt64), time.Duration(0)
				for range 300 {
					s := &script{errs: c.errs}
					must.Do(t, newClient(t, c.cfg).Do(t.Context(), s.attempt))
					last := s.at[len(s.at)-1]
					low, high = min(low, last), max(high, last)
				}
				width := c.most - c.least
				if low < c.least || high > c.most || low > c.least+width/4 || high < c.most-width/4 {
					t.Errorf("waits of %v to %v, want %v to %v", low, high, c.least, c.most)
				}
			})
		})
	}
}

func TestCancelledWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(io.ErrClosedPipe) })
		s := &script{errs: []error{refusal(10 * time.Second)}}
		began := time.Now()
		if err := newClient(t, retry.Config{}).Do(ctx, s.attempt); !errors.Is(err, io.ErrClosedPipe) ||
			len(s.at) != 1 || time.Since(began) != time.Second {
			t.Errorf("error %v after %v and %d attempts", err, time.Since(began), len(s.at))
		}
	})
}

// A call whose context ends within an attempt returns the error of that, and takes no retry.
func TestCancelledWithinAnAttempt(t *testing.T) {
	client := newClient(t, retry.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	err := client.Do(ctx, func(context.Context) error {
		cancel()
		return refusal(time.Millisecond)
	})
	if got := client.Snapshot(); !errors.Is(err, weir.ErrQueueFull) || got.Retries != 0 {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestRetriesEndWithTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, retry.Config{})
		together.Do(15, func(int) {
			if err := client.Do(t.Context(), func(context.Context) error {
				return refusal(0)
			}); !errors.Is(err, weir.ErrQueueFull) {
				t.Errorf("error %v, want that of the last attempt", err)
			}
		})
		if got := client.Snapshot(); got.Retries != 10 || got.OverBudget == 0 {
			t.Errorf("%+v, want 10 retries: one a second, for 10s", got)
		}
	})
}

// A success pays for a share of a retry.
func TestSuccessesPayForRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, retry.Config{Budget: newBudget(t, retry.BudgetConfig{MinPerSecond: 1e-9})})
		for retries := range uint64(3) {
			if err := client.Do(t.Context(), (&script{errs: []error{refusal(0)}}).attempt); (err == nil) != (retries > 0) {
				t.Errorf("a retry after %d0 successes: %v", retries, err)
			}
			if got := client.Snapshot(); got.Retries != retries || got.OverBudget != 1 {
				t.Errorf("%+v, want %d retries", got, retries)
			}
			for range 10 {
				must.Do(t, client.Do(t.Context(), func(context.Context) error { return nil }))
			}
		}
	})
}

// The throttle counts retries as it does first attempts, and refuses them.
func TestRetriesAreThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle(t, retry.ThrottlerConfig{})
		client := newClient(t, retry.Config{Throttler: throttle, Budget: newBudget(t, retry.BudgetConfig{MinPerSecond: 1000})})
		for range 7 {
			if err := client.Do(nil, func(context.Context) error { return refusal(0) }); !errors.Is(err, weir.ErrQueueFull) { //nolint:staticcheck // a nil context counts as Background
				t.Errorf("%v", err)
			}
		}
		if got := client.Snapshot(); got.Attempts != 20 || got.Throttled != 1 {
			t.Errorf("%+v, want the twenty-first attempt refused", got)
		}
		if sent := sends(throttle, weir.PriorityNormal, 10, weir.Overloaded); sent > 5 {
			t.Errorf("%d of 10 calls are sent to a downstream that refuses all", sent)
		}
		call := newClient(t, retry.Config{}).Call()
		for range 2 {
			again, err := call.Try(nil, func() retry.Answer { return retry.Answer{Outcome: weir.Overloaded} }) //nolint:staticcheck // as above
			if !again || err != nil {
				t.Errorf("%v, %v: no further attempt without a context", again, err)
			}
		}
	})
}

func TestDoIsThrottled(t *testing.T) {
	client := newClient(t, retry.Config{Name: "search", Throttler: newThrottle(t, retry.ThrottlerConfig{})})
	for range 20 {
		client.Do(t.Context(), func(context.Context) error { return context.DeadlineExceeded })
	}
	var refused *weir.RefusedError
	for range 100 {
		if err := client.Do(t.Context(), func(context.Context) error { return nil }); errors.As(err, &refused) {
			break
		}
	}
	if refused == nil || refused.Limiter != "search" || refused.Reason != weir.ReasonOverload {
		t.Errorf("%+v, want a refusal for overload", refused)
	}
	if client.Snapshot().Throttled == 0 {
		t.Error("not counted")
	}
}

func TestPanicEndsTheAttempt(t *testing.T) {
	client := newClient(t, retry.Config{})
	for range 100 {
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic is lost")
				}
			}()
			client.Do(t.Context(), func(context.Context) error { panic("boom") })
		}()
	}
	if got := client.Snapshot(); got.Attempts != 100 || got.Retries != 0 {
		t.Errorf("%+v, want no retry and nothing throttled", got)
	}
}

func TestBadSettings(t *testing.T) {
	check := func(field string, err error) {
		t.Helper()
		if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), field+" is ") ||
			!strings.Contains(err.Error(), "want 0 (the default") {
			t.Errorf("%s: error %v", field, err)
		}
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e-300} {
		for field, cfg := range map[string]retry.BudgetConfig{"Share": {Share: bad}, "MinPerSecond": {MinPerSecond: bad}} {
			_, err := retry.NewBudget(cfg)
			check("Budget."+field, err)
		}
		for field, cfg := range map[string]retry.ThrottlerConfig{"K": {K: bad}, "MaxReject": {MaxReject: bad}} {
			_, err := retry.NewThrottler(cfg)
			check("Throttler."+field, err)
		}
	}
	for _, bad := range []time.Duration{-1, 1, math.MinInt64, math.MaxInt64} {
		_, err := retry.NewBudget(retry.BudgetConfig{Window: bad})
		check("Budget.Window", err)
		_, err = retry.NewThrottler(retry.ThrottlerConfig{Window: bad})
		check("Throttler.Window", err)
		for field, cfg := range map[string]retry.Config{"Backoff": {Backoff: bad}, "MaxWait": {MaxWait: bad}} {
			_, err := retry.New(cfg)
			check(field, err)
		}
	}
	for _, bad := range []int{-1, 12, math.MinInt, math.MaxInt} {
		_, err := retry.New(retry.Config{Attempts: bad})
		check("Attempts", err)
	}
	_, err := retry.New(retry.Config{MaxWait: time.Millisecond, Backoff: 2 * time.Millisecond})
	check("Backoff", err)
	if _, err := retry.New(retry.Config{MaxWait: time.Millisecond}); err != nil {
		t.Errorf("%v: a short MaxWait shortens the default backoff", err)
	}
}

// A zero Budget or Throttler would divide by its window.
func TestPartsThatWereNotMade(t *testing.T) {
	for want, cfg := range map[string]retry.Config{
		"weir: invalid configuration: retry: Budget is the zero one: want nil or what NewBudget returned":       {Budget: &retry.Budget{}},
		"weir: invalid configuration: retry: Throttler is the zero one: want nil or what NewThrottler returned": {Throttler: &retry.Throttler{}},
	} {
		if _, err := retry.New(cfg); !errors.Is(err, weir.ErrConfig) || err.Error() != want {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

func TestInWords(t *testing.T) {
	if got, want := newClient(t, retry.Config{}).String(), `{"attempts":0,"retries":0,"throttled":0,"over_budget":0}`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	budget, throttle := newBudget(t, retry.BudgetConfig{}), newThrottle(t, retry.ThrottlerConfig{})
	if n := testing.AllocsPerRun(1000, func() {
		if ticket, err := throttle.TryAcquire(t.Context()); err == nil {
			ticket.Finish(weir.Success)
		}
		budget.Deposit()
		budget.Withdraw()
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// BenchmarkDo measures the cost that a client adds to a call that succeeds.
func BenchmarkDo(b *testing.B) {
	client := must.Have(retry.New(retry.Config{}))(b)
	ctx, call := context.Background(), func(context.Context) error { return nil }
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = client.Do(ctx, call)
		}
	})
}

func newBudget(t *testing.T, cfg retry.BudgetConfig) *retry.Budget {
	t.Helper()
	return must.Have(retry.NewBudget(cfg))(t)
}
