package weir_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
)

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

// Of twenty free slots one goes to a waiting lower priority, though critical work never stops
// coming and fills the queue.
func TestLowerPrioritiesDoNotStarve(t *testing.T) {
	for _, d := range []weir.Discipline{weir.FIFO, weir.Adaptive} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fixed(t, 1, weir.Queue{Size: 4, Timeout: time.Minute, Discipline: d})
				served := map[weir.Priority]int{}
				end := time.Now().Add(1200*10*time.Millisecond + time.Millisecond)
				for _, p := range []weir.Priority{
					weir.PriorityCritical, weir.PriorityCritical, weir.PriorityCritical, weir.PriorityCritical, weir.PriorityCritical,
					weir.PriorityNormal, weir.PriorityLow,
				} {
					go func() {
						for time.Now().Before(end) {
							err := l.Do(weir.WithPriority(t.Context(), p), func(context.Context) error {
								served[p]++
								time.Sleep(10 * time.Millisecond)
								return nil
							})
							if err != nil { // displaced: it comes again
								time.Sleep(time.Millisecond)
							}
						}
					}()
				}
				time.Sleep(time.Until(end) + time.Second)
				synctest.Wait()
				for _, p := range []weir.Priority{weir.PriorityNormal, weir.PriorityLow} {
					if n := served[p]; n < 28 || n > 32 {
						t.Errorf("%v: served %d times of 1200: want 30", p, n)
					}
				}
				balanced(t, l)
			})
		})
	}
}
