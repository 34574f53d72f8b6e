package weir_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
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
		if path.name != "Acquire, refused" && path.name != "TryAcquire, refused" && windows-before < 500 {
			t.Errorf("%s: only %d windows closed", path.name, windows-before)
		}
	}
	if s := l.Snapshot(); s.Raised < 1000 || len(l.History()) != 16 {
		t.Errorf("raised %d times: want the limit to have moved all along", s.Raised)
	}
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

// hostile are names that break text which does not quote them.
var hostile = []string{
	"", " ", "\x00", "a\nb", "\"},{\"", "%s%n", "\xff\xfe", "\u202e", strings.Repeat("x", 1<<20),
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
		"DoN 0":                    {func() error { return l.DoN(noContext, 0, work) }, weir.ErrConfig},
		"AcquireN 0":               {acquireN(0), weir.ErrConfig},
		"AcquireN -1":              {acquireN(-1), weir.ErrConfig},
		"AcquireN least":           {acquireN(math.MinInt), weir.ErrConfig},
		"AcquireN most":            {acquireN(math.MaxInt), weir.ErrConfig},
		"AcquireN above the limit": {acquireN(5), weir.ErrTooHeavy},
		"Sum of none":              {func() error { weir.Sum(); return nil }, nil},
		"Sum of no limiter":        {func() error { weir.Sum(nil, l, nil); return nil }, nil},
		"Log without a logger":     {func() error { weir.Log(nil)(weir.Event{Kind: weir.LimitChanged}); return nil }, nil},
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

// Any name is allowed: errors stay on one line, and JSON stays JSON.
func TestHostileNames(t *testing.T) {
	for _, name := range hostile {
		l := newLimiter(t, weir.Config{Name: name, Max: 1, Queue: weir.Queue{Size: 1, Tenants: 8}})
		if err := l.Do(weir.WithTenant(t.Context(), name), func(context.Context) error { return nil }); err != nil {
			t.Errorf("%.20q: %v", name, err)
		}
		hold(t, l, 1)
		l.Close()
		_, err := l.Acquire(t.Context())
		if !errors.Is(err, weir.ErrClosed) || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%.20q: %.80q", name, err)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(l.String()), &got); err != nil {
			t.Errorf("%.20q: %v", name, err)
		}
		if got := weir.TenantFrom(weir.WithTenant(t.Context(), name)); got != name {
			t.Errorf("tenant %.20q, want %.20q", got, name)
		}
	}
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
