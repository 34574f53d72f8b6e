package throttle_test

import (
	"sync"
	"testing"

	"github.com/weir-go/weir/throttle"
)

// The cost never falls below nothing while operations that were charged too much are corrected.
func TestCostWhileItIsCorrected(t *testing.T) {
	const callers, each, charged = 4, 500, 1_000_000
	for range 20 {
		th, err := throttle.New(throttle.Config{Name: "db"})
		if err != nil {
			t.Fatal(err)
		}
		stop := make(chan struct{})
		var all, reader sync.WaitGroup
		reader.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if got := th.Snapshot().Writes.Cost; got > callers*each*charged {
						t.Errorf("cost %d", got)
						return
					}
				}
			}
		})
		for range callers {
			all.Go(func() {
				for range each {
					p, err := th.Start(t.Context(), throttle.Write, charged)
					if err != nil {
						t.Error(err)
						return
					}
					if err := p.SetWeight(1); err != nil {
						t.Error(err)
					}
					p.Done(nil)
				}
			})
		}
		all.Wait()
		close(stop)
		reader.Wait()
	}
}
