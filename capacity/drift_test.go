package capacity_test

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
)

var operations = flag.Int("operations", 100_000, "how many operations TestNoDrift does")

// TestNoDrift takes and gives back on every processor, through a parent, while another
// goroutine moves limits and withheld parts.
//
//	go test ./capacity -run NoDrift -operations 100000000 -timeout 30m
func TestNoDrift(t *testing.T) {
	parent := must.Have(capacity.New(capacity.Vector{"slots": 12, "memory": 100}))(t)
	c := must.Have(parent.Child(capacity.Vector{"slots": 8}))(t)
	var requests []*capacity.Request
	for units := range int64(4) {
		requests = append(requests, must.Have(c.Request(capacity.Vector{"slots": units + 1, "memory": 3 * units}))(t))
	}
	var done, granted atomic.Int64
	var all sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) + 2 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			var held []capacity.Grant
			for done.Add(1) <= int64(*operations) {
				if grant, err := c.TryAcquire(requests[random.IntN(len(requests))]); err == nil {
					held = append(held, grant)
					granted.Add(1)
				}
				if n := len(held); n > 3 || n > 0 && random.IntN(2) == 0 {
					held[n-1].Release()
					held[n-1].Release()
					held = held[:n-1]
					done.Add(1) // the second is none
				}
				if worker == 0 && random.IntN(100) == 0 {
					limit := 4 + random.Int64N(8)
					if err := parent.SetLimit("slots", limit); err != nil {
						t.Error(err)
					}
					if err := c.Withhold("slots", random.Int64N(8)); err != nil {
						t.Error(err)
					}
				}
			}
			for _, grant := range held {
				grant.Release()
			}
		})
	}
	all.Wait()
	for _, s := range []capacity.Snapshot{parent.Snapshot(), c.Snapshot()} {
		for name, usage := range s.Resources {
			if usage.InUse != 0 || usage.Owed != 0 || s.Grants != 0 || s.Waiting != 0 {
				t.Errorf("%s drifted: %+v, %d grants", name, usage, s.Grants)
			}
		}
	}
	t.Logf("%d grants", granted.Load())
}
