package weir_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/deadline"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// TestAllocations checks that the hot paths do not allocate while windows close and the limit
// moves all the time.
func TestAllocations(t *testing.T) {
	windows, up := 0, 1.0
	moving := script(func(w law.Window) law.Decision {
		windows++
		up = -up
		return law.Decision{Limit: 100 + up, Reason: law.Reason{Code: law.Above, Signal: 950, Have: 2, Want: 1}}
	})
	c := weir.Config{Initial: 100, Law: moving, Interval: time.Nanosecond, MinSamples: 1}
	l, full := newLimiter(t, c), newLimiter(t, weir.Config{Max: 1, Law: moving, Interval: time.Nanosecond, MinSamples: 1})
	hold(t, full, 1)
	fair := c
	fair.Queue = weir.Queue{Size: 1, Tenants: 64}
	measured := c
	measured.Histograms, measured.Exemplar = true, func(context.Context) string { return "" }
	shadow := newLimiter(t, weir.Config{Max: 2, Law: moving, Interval: time.Nanosecond, MinSamples: 1, Shadow: true})
	hold(t, shadow, 5)

	ctx := t.Context()
	pass := func(l *weir.Limiter, ctx context.Context, weight int) func() {
		return func() {
			permit, err := l.AcquireN(ctx, weight)
			if err != nil {
				t.Error(err)
			}
			permit.Done(nil)
		}
	}
	work := func(context.Context) error { return nil }
	for _, path := range []struct {
		name string
		run  func()
		want float64
	}{
		{"TryAcquire and Done", func() {
			permit, err := l.TryAcquire(ctx)
			if err != nil {
				t.Error(err)
			}
			permit.Done(nil)
		}, 0},
		{"Acquire and DoneWith", func() {
			permit, err := l.Acquire(ctx)
			defer permit.DoneWith(&err)
		}, 0},
		{"AcquireN and Done", pass(l, ctx, 5), 0},
		{"Acquire and Done of a tenant", pass(newLimiter(t, fair), weir.WithTenant(ctx, "acme"), 1), 0},
		{"Acquire and Done in shadow mode", pass(shadow, ctx, 1), 0},
		{"Acquire and Done with histograms", pass(newLimiter(t, measured), ctx, 1), 0},
		{"Full", func() {
			if err := l.Full(ctx); err != nil {
				t.Error(err)
			}
		}, 0},
		{"Do", func() {
			if err := l.Do(ctx, work); err != nil {
				t.Error(err)
			}
		}, 0},
		{"Do for a value", func() {
			if _, err := weir.Do(ctx, l, func(context.Context) (int, error) { return 1, nil }); err != nil {
				t.Error(err)
			}
		}, 0},
		{"Acquire, refused", func() {
			if _, err := full.Acquire(ctx); err == nil {
				t.Error("admitted")
			}
		}, 1},
		{"TryAcquire, refused", func() {
			if _, err := full.TryAcquire(ctx); err == nil {
				t.Error("admitted")
			}
		}, 1},
	} {
		for range 1000 { // the history fills up, the histogram finds its octaves
			path.run()
		}
		before := windows
		if got := testing.AllocsPerRun(1000, path.run); got != path.want {
			t.Errorf("%s: %v allocations: want %v", path.name, got, path.want)
		}
		if path.want == 0 && path.name != "Full" && windows-before < 500 {
			t.Errorf("%s: only %d windows closed", path.name, windows-before)
		}
	}
	if s := l.Snapshot(); s.Raised < 1000 || len(l.History()) != 16 {
		t.Errorf("raised %d times: want the limit to have moved all along", s.Raised)
	}
}

// Full allocates nothing where a waiter would give way to the work either.
func TestFullOfAFullQueueDoesNotAllocate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, order := range []weir.Discipline{weir.FIFO, weir.Adaptive} {
			l := fixed(t, 1, weir.Queue{Size: 1, Timeout: time.Hour, Discipline: order, Tenants: 4})
			permit := hold(t, l, 1)[0]
			waiting := ask(weir.WithTenant(weir.WithPriority(t.Context(), weir.PriorityLow), "acme"), l, 1)
			first := ask(weir.WithPriority(t.Context(), weir.PriorityHigh), l, 1) // it takes the only place
			if a := now(t, waiting); !errors.Is(a.Err, weir.ErrRefused) {
				t.Error(a.Err)
			}
			urgent, cancel := context.WithTimeout(weir.WithPriority(t.Context(), weir.PriorityCritical), time.Minute)
			if got := testing.AllocsPerRun(100, func() { must.Do(t, l.Full(urgent)) }); got != 0 {
				t.Errorf("%v: %v allocations", order, got)
			}
			cancel()
			waits(t, first)
			permit.Done(nil)
			admitted(t, first).Done(nil)
		}
	})
}

// Work under a context that has ended is cancelled, as by Acquire, and not refused: neither
// the breaker nor the hook is called.
func TestTryAcquireUnderAContextThatEnded(t *testing.T) {
	var j limittest.Journal
	b := &breaker{}
	l := newLimiter(t, weir.Config{Breaker: b, OnEvent: j.Note})
	ended, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := l.TryAcquire(ended); !errors.Is(err, gone) || errors.Is(err, weir.ErrRefused) {
		t.Errorf("got %v: want the cause of the context", err)
	}
	s := l.Snapshot()
	if s.Cancelled != 1 || s.RefusedTotal() != 0 || s.InFlight != 0 || b.allowed != 0 || len(j.Of(weir.Refused)) != 0 {
		t.Errorf("%v, allowed %d: want one cancelled", l, b.allowed)
	}
}

// No call panics, loses a slot or hangs on any input: it returns an error that names the
// mistake, or does as its comment says.
func TestBadInput(t *testing.T) {
	var (
		noContext context.Context
		l         = newLimiter(t, weir.Config{Max: 4, Law: law.Fixed{}})
		work      = func(context.Context) error { return nil }
	)
	acquireN := func(weight int) func() error {
		return func() error {
			p, err := l.AcquireN(noContext, weight)
			p.Release()
			return err
		}
	}
	for name, c := range map[string]struct {
		call func() error
		want error
	}{
		"Do without a context":       {func() error { return l.Do(noContext, work) }, nil},
		"Shutdown without a context": {func() error { return newLimiter(t, weir.Config{}).Shutdown(noContext) }, nil},
		"no context's values":        {func() error { _ = weir.PriorityFrom(noContext); _ = weir.TenantFrom(noContext); return nil }, nil},
		"SetCap -1":                  {func() error { return l.SetCap(-1) }, weir.ErrConfig},
		"SetCap most":                {func() error { return l.SetCap(1_000_000_001) }, weir.ErrConfig},
		"DoN 0":                      {func() error { return l.DoN(noContext, 0, work) }, weir.ErrConfig},
		"DoN of all":                 {func() error { return l.DoN(noContext, 4, work) }, nil},
		"AcquireN 0":                 {acquireN(0), weir.ErrConfig},
		"AcquireN -1":                {acquireN(-1), weir.ErrConfig},
		"AcquireN least":             {acquireN(math.MinInt), weir.ErrConfig},
		"AcquireN most":              {acquireN(math.MaxInt), weir.ErrConfig},
		"AcquireN above the limit":   {acquireN(5), weir.ErrTooHeavy},
		"Sum of none":                {func() error { weir.Sum(); return nil }, nil},
		"Sum of no limiter":          {func() error { weir.Sum(nil, l, nil); return nil }, nil},
		"Log without a logger":       {func() error { weir.Log(nil)(weir.Event{Kind: weir.LimitChanged}); return nil }, nil},
		"Log of an unknown event": {func() error {
			weir.Log(slog.New(slog.DiscardHandler))(weir.Event{Kind: 99})
			return nil
		}, nil},
		"a priority beyond all":           {func() error { return l.Do(weir.WithPriority(t.Context(), 127), work) }, nil},
		"a priority before all":           {func() error { return l.Do(weir.WithPriority(noContext, -128), work) }, nil},
		"a refusal for a reason that not": {func() error { return &weir.RefusedError{Reason: 99} }, weir.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.call(); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			balanced(t, l)
		})
	}
	hold(t, l, 4)
}

// Work waits while a slot rests, and starts when the rest ends, although no other call comes.
func TestWaiterStartsAfterARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rests := script(func(w law.Window) law.Decision {
			return law.Decision{Limit: float64(w.Limit), Next: law.Plan{Rest: time.Second}}
		})
		l := newLimiter(t, weir.Config{Law: rests, Max: 1, Queue: weir.Queue{Size: 1, Timeout: time.Hour}})
		hold(t, l, 1)[0].Finish(weir.Overloaded)
		if s := l.Snapshot(); s.Resting != 1 || s.InFlight != 0 {
			t.Errorf("%d resting and %d in flight, want 1 and 0", s.Resting, s.InFlight)
		}
		began := time.Now()
		p, err := l.Acquire(t.Context())
		if took := time.Since(began); err != nil || took != time.Second {
			t.Errorf("%v after %v, want a permit after 1s", err, took)
		}
		p.Done(nil)
		balanced(t, l)
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
					ctx = weir.WithTenant(deadline.Stranger(ctx), "theirs") // by an admitter in between
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

func TestPriorityInTheContext(t *testing.T) {
	if p := weir.PriorityFrom(t.Context()); p != weir.PriorityNormal {
		t.Errorf("%v: want normal by default", p)
	}
	names := map[weir.Priority]string{
		weir.PriorityCritical: "critical", weir.PriorityHigh: "high", weir.PriorityNormal: "normal", weir.PriorityLow: "low",
		-128: "critical", 127: "low",
	}
	for p, name := range names {
		if got := weir.PriorityFrom(weir.WithPriority(t.Context(), p)); got != p || p.String() != name {
			t.Errorf("%d: got %d, named %q: want %q", p, got, p, name)
		}
	}
}

func TestTenantInTheContext(t *testing.T) {
	if id := weir.TenantFrom(t.Context()); id != "" {
		t.Errorf("%q: want none", id)
	}
	ctx := weir.WithTenant(t.Context(), "acme")
	if id := weir.TenantFrom(weir.WithTenant(ctx, "")); id != "" {
		t.Errorf("%q: want the inner one", id)
	}
	var none context.Context
	if id := weir.TenantFrom(weir.WithTenant(none, "acme")); id != "acme" {
		t.Errorf("%q", id)
	}
}

// Work heavier than the limit runs alone, in its turn. Otherwise a law whose limit is below the
// weight of all work would never see any. Its weight is at most the cap and Max.
func TestHeavyWorkRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		five := script(func(law.Window) law.Decision { return law.Decision{Limit: 5} })
		l := newLimiter(t, weir.Config{Initial: 5, Max: 10, Law: five, Queue: weir.Queue{Size: 2, Timeout: time.Minute}})
		before := hold(t, l, 1)[0]
		heavy, after := ask(t.Context(), l, 8), ask(t.Context(), l, 1)
		limittest.Waits(t, heavy)
		before.Done(nil)
		permit := limittest.Admitted(t, heavy)
		limittest.Waits(t, after)
		permit.Done(nil)
		limittest.Admitted(t, after).Done(nil)
		if _, err := l.AcquireN(t.Context(), 11); !errors.Is(err, weir.ErrTooHeavy) {
			t.Errorf("above Max: %v", err)
		}
		setCap(t, l, 7)
		capped := ask(t.Context(), l, 8)
		limittest.Waits(t, capped)
		setCap(t, l, 8)
		limittest.Admitted(t, capped).Done(nil)
		balanced(t, l)
	})
}
