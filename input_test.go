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
	"github.com/weir-go/weir/law"
)

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
		"Acquire without a context": {func() error { p, err := l.Acquire(noContext); p.Release(); return err }, nil},
		"AcquireN 0":                {acquireN(0), weir.ErrConfig},
		"AcquireN -1":               {acquireN(-1), weir.ErrConfig},
		"AcquireN least":            {acquireN(math.MinInt), weir.ErrConfig},
		"AcquireN most":             {acquireN(math.MaxInt), weir.ErrConfig},
		"AcquireN above the limit":  {acquireN(5), weir.ErrTooHeavy},
		"Do without a context":      {func() error { return l.Do(noContext, work) }, nil},
		"Update with a negative":    {func() error { return l.Update(weir.Config{Interval: -1}) }, weir.ErrConfig},
		"New with a name and no more": {func() error {
			_, err := weir.New(weir.Config{Name: hostile[4]})
			return err
		}, nil},
		"Sum of none":       {func() error { weir.Sum(); return nil }, nil},
		"Sum of no limiter": {func() error { weir.Sum(nil, l, nil); return nil }, nil},
		"Log without a logger": {func() error {
			weir.Log(nil)(weir.Event{Kind: weir.LimitChanged})
			return nil
		}, nil},
		"Log of an unknown event": {func() error {
			weir.Log(slog.New(slog.DiscardHandler))(weir.Event{Kind: 99})
			return nil
		}, nil},
		"the zero Permit": {func() error {
			var p weir.Permit
			p.Done(nil)
			p.DoneWith(nil)
			p.Finish(99)
			p.Release()
			return nil
		}, nil},
		"Shutdown without a context": {func() error { return newLimiter(t, weir.Config{}).Shutdown(noContext) }, nil},
		"an unknown outcome": {func() error {
			p, _ := l.TryAcquire(t.Context())
			p.Finish(200)
			return nil
		}, nil},
		"a priority beyond all": {func() error { return l.Do(weir.WithPriority(t.Context(), 127), work) }, nil},
		"a priority before all": {func() error { return l.Do(weir.WithPriority(noContext, -128), work) }, nil},
		"names of what there is not": {func() error {
			_ = weir.Reason(99).String() + weir.Kind(99).String() + weir.Discipline(99).String()
			return nil
		}, nil},
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

// Durations at the ends of their range overflow nothing.
func TestLongestDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, weir.Config{
			Max: 1, Interval: math.MaxInt64, Window: math.MaxInt64, Timeout: math.MaxInt64, MinSamples: 1_000_000_000,
			Queue: weir.Queue{Size: 1_000_000_000, Timeout: math.MaxInt64, Tenants: 1024},
		})
		held := hold(t, l, 1)
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1<<40, 0))
		defer cancel()
		waiting := ask(ctx, l, 1)
		waits(t, waiting)
		time.Sleep(time.Hour)
		held[0].Done(nil)
		admitted(t, waiting).Done(nil)
		balanced(t, l)
	})
}

// A nil context is a documented result everywhere.
func TestShutdownNilContext(t *testing.T) {
	var none context.Context
	if err := fixed(t, 1, weir.Queue{}).Shutdown(none); err != nil {
		t.Error(err)
	}
}

func TestWithPriorityNilContext(t *testing.T) {
	var none context.Context
	if p := weir.PriorityFrom(weir.WithPriority(none, weir.High)); p != weir.High {
		t.Error(p)
	}
}
