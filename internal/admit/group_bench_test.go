package admit_test

import (
	"fmt"
	"testing"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// BenchmarkGroupInLine ends work while every member has work waiting for the group, so that a
// slot goes to the first in the queue, and the next request joins.
//
//	go test -run '^$' -bench GroupInLine ./internal/admit
func BenchmarkGroupInLine(b *testing.B) {
	for _, members := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("members=%d", members), func(b *testing.B) {
			group := admit.NewGroup(1)
			var served *inLine
			var fx admit.Effects
			for range members {
				node, err := admit.New(settings(5, nil), law.Fixed{}, group, 0)
				if err != nil {
					b.Fatal(err)
				}
				w := &inLine{node: node, served: &served}
				w.Owner, w.Weight = w, 1
				if node.Join(&w.Waiter, 0, &fx) == reply.Admitted {
					served = w
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				var fx admit.Effects
				last := served
				last.node.Done(last.Ticket, 0, window.Success, &fx)
				fx.Woken.Wake()
				last.node.Join(&last.Waiter, 0, &fx)
			}
		})
	}
}

// An inLine is a waiter that signals when it was served.
type inLine struct {
	queue.Waiter
	node   *admit.Node
	served **inLine
}

func (w *inLine) Wake() { *w.served = w }
