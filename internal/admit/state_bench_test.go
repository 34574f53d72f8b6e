package admit_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// BenchmarkState measures how long a reader holds the lock of a node with latencies from 1 ms
// to 1 s, as an exporter does for each of its limiters every few seconds.
func BenchmarkState(b *testing.B) {
	for _, cumulative := range []bool{false, true} {
		name := "plain"
		if cumulative {
			name = "cumulative"
		}
		b.Run(name, func(b *testing.B) {
			node, err := admit.New(settings(100, func(s *admit.Settings) {
				s.Cumulative, s.Lookback = cumulative, time.Hour
			}), law.Fixed{}, nil, 0)
			if err != nil {
				b.Fatal(err)
			}
			r, now := rand.New(rand.NewPCG(1, 2)), int64(0)
			for range 1000 {
				var ticket reply.Ticket
				var fx admit.Effects
				node.Acquire(&ticket, admit.Work{Weight: 1}, now, &fx)
				now += int64(time.Millisecond) << r.IntN(10)
				node.Done(ticket, now, window.Success, &fx)
			}
			var copies []*window.Cumulative
			if cumulative {
				copies = append(copies, window.NewCumulative())
			}
			b.ReportAllocs()
			for b.Loop() {
				node.State(now, copies...)
			}
		})
	}
}
