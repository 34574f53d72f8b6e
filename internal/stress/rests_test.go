package stress

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/limittest"
	"github.com/weir-go/weir/law"
)

// While slots rest, no more work runs than the limit allows, and no waiter is forgotten.
func TestStressOfRests(t *testing.T) {
	const limit = 4
	lim := weir.Must(weir.New(weir.Config{
		Initial: limit, Interval: time.Millisecond, Queue: weir.Queue{Size: 100, Timeout: time.Minute},
		Law: moving(func(law.Window) law.Decision {
			return law.Decision{Limit: limit, Next: law.Plan{Rest: 200 * time.Microsecond}}
		}),
	}))
	outcomes := []weir.Outcome{weir.Success, weir.Failure, weir.Overloaded, weir.Ignore}
	var running atomic.Int64
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(53, uint64(i)))
			for range 200 {
				weight := 1 + r.IntN(2)
				p, err := lim.AcquireN(t.Context(), weight)
				if err != nil {
					t.Error(err)
					return
				}
				if n := running.Add(int64(weight)); n > limit {
					t.Errorf("a weight of %d runs at a limit of %d", n, limit)
				}
				if s := lim.Snapshot(); s.InFlight+s.Resting > limit {
					t.Errorf("%d in flight and %d resting at a limit of %d", s.InFlight, s.Resting, limit)
				}
				running.Add(-int64(weight))
				p.Finish(outcomes[r.IntN(len(outcomes))])
			}
		})
	}
	all.Wait()
	limittest.Balanced(t, lim.Snapshot())
}
