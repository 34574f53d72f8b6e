package weir_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/law"
)

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

// The law sees the median of the deadlines, if most work has one that counts: strangers' deadlines
// and those below the law's minimum do not.
func TestDeadlinesReachTheLaw(t *testing.T) {
	const (
		none, past, tiny, short = 0, time.Nanosecond, time.Microsecond, time.Millisecond
		soon, late, years       = time.Minute, time.Hour, 200 * 365 * 24 * time.Hour
	)
	for name, c := range map[string]struct {
		arrivals []time.Duration // a deadline each, below 0 of a stranger
		want     time.Duration
	}{
		"all":           {[]time.Duration{soon}, soon},
		"most":          {[]time.Duration{soon, soon, none}, soon},
		"few":           {[]time.Duration{soon, none, none}, none},
		"most are late": {[]time.Duration{soon, late, late}, late},
		"strangers":     {[]time.Duration{-soon, -soon, late}, none},
		"short":         {[]time.Duration{short, short, short, short, short, short, late, none, none, none}, none},
		"tiny":          {[]time.Duration{tiny, tiny, tiny, late, none, none}, none},
		"past":          {[]time.Duration{past, past, past, late, none, none}, none},
		"years":         {[]time.Duration{years}, years},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := deadlineHeard(t, c.arrivals)
				if off := (heard - c.want).Abs(); off > c.want/6 {
					t.Errorf("the law hears of %v, want about %v", heard, c.want)
				}
			})
		})
	}
}

// deadlineHeard is the median that the law sees after arrivals at a full limiter. The law leaves
// out deadlines below 10 ms.
func deadlineHeard(t *testing.T, arrivals []time.Duration) (heard time.Duration) {
	t.Helper()
	lim := newLimiter(t, weir.Config{
		Max: 1, Interval: time.Second, MinSamples: 1,
		Law: script(func(w law.Window) law.Decision {
			heard = w.Deadline
			return law.Decision{Limit: 1, Next: law.Plan{MinDeadline: 10 * time.Millisecond}}
		}),
	})
	for range 4 { // the first round only shows that there are deadlines
		held := hold(t, lim, 1)
		_, _ = lim.TryAcquire(t.Context()) // the limit is reached
		for i := range 100 {
			ctx, cancel := t.Context(), func() {}
			if left := arrivals[i%len(arrivals)]; left != 0 {
				ctx, cancel = context.WithTimeout(ctx, left.Abs())
				if left < 0 {
					ctx = deadline.Stranger(ctx)
				}
			}
			time.Sleep(time.Nanosecond)
			_, _ = lim.TryAcquire(ctx)
			cancel()
		}
		time.Sleep(time.Second)
		held[0].Done(nil)
	}
	if got := lim.Snapshot().Deadline; got != heard {
		t.Errorf("the snapshot has a deadline of %v, the law's window %v", got, heard)
	}
	return heard
}
