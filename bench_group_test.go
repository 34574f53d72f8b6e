package weir_test

import (
	"fmt"
	"testing"

	"github.com/weir-go/weir"
)

// BenchmarkGroup passes through each limiter of a group in turn, as a multiple of the
// time that a limiter without a group takes. What grows with their number is how much
// of them the processor's caches miss.
//
//	go test -run '^$' -bench Group -count 5 .
func BenchmarkGroup(b *testing.B) {
	pass := func(l *weir.Limiter) {
		if permit, ok := l.TryAcquire(); ok {
			permit.Done(nil)
		}
	}
	for _, members := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("limiters=%d", members), func(b *testing.B) {
			group, err := weir.NewGroup(500)
			if err != nil {
				b.Fatal(err)
			}
			limiters := make([]*weir.Limiter, members)
			for i := range limiters {
				limiters[i] = weir.Must(group.New(weir.Config{}, weir.Stake{}))
				pass(limiters[i]) // the first use allocates
			}
			plain, turn := weir.Must(weir.New(weir.Config{})), 0
			b.ResetTimer()
			against(b, 1, func() {
				pass(limiters[turn])
				if turn++; turn == members {
					turn = 0
				}
			}, "plain", func() { pass(plain) })
		})
	}
}
