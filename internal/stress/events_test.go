package stress

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// Whatever happens at once, the hook gets each event once, numbered without a gap.
func TestEvents(t *testing.T) {
	var hook limittest.Journal
	c := weir.Config{
		Initial: 4, MinSamples: 1, Interval: time.Microsecond, OnEvent: hook.Note,
		Queue: weir.Queue{Size: 2, Timeout: 50 * time.Microsecond},
		Law: moving(func(w law.Window) law.Decision {
			return law.Decision{Limit: float64(2 + w.Samples%4)}
		}),
	}
	l := weir.Must(weir.New(c))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(100))*time.Microsecond)
				switch r.IntN(40) {
				case 0:
					_ = l.Update(c)
				case 1:
					_, _ = l.AcquireN(ctx, 1000)
				case 2, 3, 4, 5, 6, 7, 8, 9:
					if p, err := l.TryAcquire(t.Context()); err == nil {
						p.Done(nil)
					}
				case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19:
					if p, err := l.AcquireN(ctx, 1+r.IntN(4)); err == nil {
						p.Done(nil)
					}
				default:
					_ = l.Do(ctx, func(ctx context.Context) error { return ctx.Err() })
				}
				cancel()
			}
		})
	}
	all.Wait()
	hook.Gapless(t)
	s := l.Snapshot()
	if n := len(hook.Of(weir.Refused)); uint64(n) != s.RefusedTotal() {
		t.Errorf("%d events of %d refusals", n, s.RefusedTotal())
	}
	if len(hook.Of(weir.LimitChanged)) == 0 {
		t.Error("no change of the limit")
	}
	limittest.Balanced(t, s)
}

// moving is a law made of a function.
type moving func(law.Window) law.Decision

func (m moving) Controller(law.Bounds) (law.Controller, error) { return m, nil }
func (m moving) Next(w law.Window) law.Decision                { return m(w) }
