package capacity_test

import (
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
)

// BenchmarkTryAcquire prints the cost of taking and giving back two resources as a
// multiple of two uncontended pairs of locking and unlocking a mutex, measured in
// turn with it. Both are the fastest batch of all: whoever shares the machine only
// adds to a batch.
//
//	go test -run '^$' -bench TryAcquire -cpu 1 -count 5 ./capacity
func BenchmarkTryAcquire(b *testing.B) {
	c, request := twoResources(b)
	var first, second sync.Mutex
	const batch = 1000
	ours, floor := time.Hour, time.Hour
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		for range batch {
			first.Lock()
			first.Unlock() //nolint:staticcheck // the empty section is measured
			second.Lock()
			second.Unlock() //nolint:staticcheck // as above
		}
		floor = min(floor, time.Since(began))
		began = time.Now()
		for range batch {
			grant, err := c.TryAcquire(request)
			if err != nil {
				b.Fatal(err)
			}
			grant.Release()
		}
		ours = min(ours, time.Since(began))
	}
	b.ReportMetric(float64(ours)/float64(floor), "x/floor")
	b.ReportMetric(float64(ours.Nanoseconds())/batch, "ns/pair")
	b.ReportMetric(0, "ns/op")
}

func TestTryAcquireDoesNotAllocate(t *testing.T) {
	c, request := twoResources(t)
	if n := testing.AllocsPerRun(1000, func() {
		grant, err := c.TryAcquire(request)
		if err != nil {
			t.Error(err)
		}
		grant.Release()
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func twoResources(t testing.TB) (*capacity.Capacity, *capacity.Request) {
	t.Helper()
	c := must.Have(capacity.New(capacity.Vector{"slots": 1000, "memory_mb": 1_000_000}))(t)
	request := must.Have(c.Request(capacity.Vector{"slots": 1, "memory_mb": 512}))(t)
	return c, request
}
