package weir_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

// A package's limiter is made before a test has a bubble, in which the clock is decades behind.
var (
	madeOutside = weir.Must(weir.New(weir.Config{
		Min: 3, Initial: 10, Law: band, MinSamples: 1,
		Queue: weir.Queue{Size: 9, Timeout: time.Second},
	}))
	shadowOutside = weir.Must(weir.New(weir.Config{Min: 3, Initial: 10, Law: band, MinSamples: 1, Shadow: true}))
)

func TestLimiterMadeOutsideOfABubble(t *testing.T) {
	for name, l := range map[string]*weir.Limiter{"live": madeOutside, "in shadow mode": shadowOutside} {
		for _, again := range []string{"", ", and in the next one"} {
			out := hold(t, l, 1)[0] // and work that started there
			t.Run(name+again, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					for range 20 {
						p := hold(t, l, 1)[0]
						time.Sleep(250 * time.Millisecond)
						p.Done(nil)
					}
					p := hold(t, l, 1)[0]
					time.Sleep(100 * time.Millisecond)
					s := l.Snapshot()
					if s.P95 < 240*time.Millisecond || s.P95 > 260*time.Millisecond {
						t.Errorf("p95 %v: want 250ms", s.P95)
					}
					if s.Limit != 3 {
						t.Errorf("limit %d: want it cut to 3, for 250ms is above the target", s.Limit)
					}
					p.Done(nil)
					if name == "live" {
						held := hold(t, l, l.Snapshot().Limit-1) // one runs outside
						waiting := ask(t.Context(), l, 1)
						time.Sleep(time.Second)
						if a := now(t, waiting); a.after != time.Second {
							t.Errorf("%v after %v: want a queue timeout after 1s", a.err, a.after)
						}
						for _, p := range held {
							p.Release()
						}
					}
				})
			})
			out.Done(nil)
			balanced(t, l)
			if age := l.Snapshot().Age; age != 0 {
				t.Errorf("age %v with nothing in flight", age)
			}
		}
	}
}
