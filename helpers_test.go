package weir_test

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

type answer = limittest.Answer

var (
	now      = limittest.Now
	admitted = limittest.Admitted
	waits    = limittest.Waits
	unwind   = limittest.Unwind
)

func newLimiter(t testing.TB, c weir.Config) *weir.Limiter {
	t.Helper()
	return must.Have(weir.New(c))(t)
}

// fixed returns a limiter whose limit stays.
func fixed(t testing.TB, limit int, q weir.Queue) *weir.Limiter {
	t.Helper()
	return newLimiter(t, weir.Config{Initial: limit, Max: max(1000, limit), Law: law.Fixed{}, Queue: q})
}

// band decides once an interval, even from a single sample.
var band = law.Band{Target: 100 * time.Millisecond}

// hold takes n permits, which must be free.
func hold(t testing.TB, l *weir.Limiter, n int) []weir.Permit {
	t.Helper()
	return limittest.Take(t, n, func() (weir.Permit, error) { return l.TryAcquire(t.Context()) })
}

// ask asks on a goroutine of its own and returns once that waits or has its answer.
func ask(ctx context.Context, l *weir.Limiter, weight int) <-chan answer {
	return limittest.Ask(func() (weir.Permit, error) { return l.AcquireN(ctx, weight) })
}

// balanced fails the test unless all admitted work is back and no waiter is left.
func balanced(t testing.TB, l *weir.Limiter) {
	t.Helper()
	limittest.Balanced(t, l.Snapshot())
}

// A script is a law made of a function. It cannot be compared, nor retuned.
type script func(law.Window) law.Decision

func (s script) Controller(law.Bounds) (law.Controller, error) { return s, nil }

func (s script) Next(w law.Window) law.Decision { return s(w) }

// watching returns a law that keeps the limit and records its windows, without the empty one
// at the start.
func watching(windows *[]law.Window) law.Law {
	begun := false
	return script(func(w law.Window) law.Decision {
		if begun {
			*windows = append(*windows, w)
		}
		begun = true
		return law.Decision{Limit: float64(w.Limit)}
	})
}

// breaking returns a law that calls do, once, when the first window closes.
func breaking(do func()) law.Law {
	done := false
	return script(func(w law.Window) law.Decision {
		if w.Elapsed > 0 && !done {
			done = true
			do()
		}
		return law.Decision{Limit: float64(w.Limit)}
	})
}

func update(t testing.TB, l *weir.Limiter, c weir.Config) {
	t.Helper()
	must.Do(t, l.Update(c))
}

func setCap(t testing.TB, l *weir.Limiter, slots int) {
	t.Helper()
	must.Do(t, l.SetCap(slots))
}
