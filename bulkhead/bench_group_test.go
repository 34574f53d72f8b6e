package bulkhead_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/seam"
)

// BenchmarkGroup passes through each limiter under a cap in turn, as a multiple of the time that
// a limiter without one takes. With their number grows how often the processor's caches miss.
//
//	go test -run '^$' -bench 'Group$' -count 5 ./bulkhead
func BenchmarkGroup(b *testing.B) {
	inside := seam.Of[*weir.Limiter, weir.Config, weir.Snapshot, weir.Event]()
	pass := func(l *weir.Limiter) {
		if permit, ok := l.TryAcquire(context.Background()); ok {
			permit.Done(nil)
		}
	}
	for _, members := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("limiters=%d", members), func(b *testing.B) {
			group := admit.NewGroup(500)
			limiters := make([]*weir.Limiter, members)
			for i := range limiters {
				limiters[i] = weir.Must(inside.New(weir.Config{}, group, admit.Allocation{Share: 1}))
				pass(limiters[i]) // the first use allocates
			}
			plain := weir.Must(weir.New(weir.Config{}))
			b.ResetTimer()
			inTurn(b, 1, func(int) { pass(plain) }, func(i int) { pass(limiters[i%members]) })
		})
	}
}

func TestCapDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := newSet(t, bulkhead.Config{Max: 10, ByKey: byKey{"a": open(1, 1)}})
	pass := func() {
		if permit, ok := s.TryAcquire(context.Background(), "a"); ok {
			permit.Done(nil)
		}
	}
	pass()
	if n := testing.AllocsPerRun(1000, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
