package throttle_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/throttle"
)

// TestFullSlotsAreNoLoad: a bound on concurrency that clients keep full is no sign that the
// database is overloaded.
func TestFullSlotsAreNoLoad(t *testing.T) {
	for _, op := range []throttle.Op{throttle.Read, throttle.Write} {
		synctest.Test(t, func(t *testing.T) {
			side := throttle.Side{MaxInFlight: 4, Queue: weir.Queue{Size: 64, Timeout: 5 * time.Second}}
			th, err := throttle.New(throttle.Config{Reads: side, Writes: side})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			go th.Run(ctx)
			done := make([]int, 16)
			var clients sync.WaitGroup
			for i := range done {
				clients.Go(func() {
					for ctx.Err() == nil {
						o, err := th.Start(ctx, op, 1)
						if err != nil {
							time.Sleep(10 * time.Millisecond)
							continue
						}
						time.Sleep(10 * time.Millisecond)
						o.Done(nil)
						done[i]++
					}
				})
			}
			<-ctx.Done()
			clients.Wait()
			sum := 0
			for _, n := range done {
				sum += n
			}
			t.Logf("%v: %d done of %d", op, sum, 30*400)
			if sum < 30*400*9/10 {
				t.Errorf("%v: %d done, want nearly %d: 4 at a time for 10 ms", op, sum, 30*400)
			}
		})
	}
}
