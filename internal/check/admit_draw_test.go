package check

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// anyOrder draws an order of a queue.
var anyOrder = rapid.SampledFrom([]queue.Order{queue.FIFO, queue.Adaptive})

// draw returns settings. A group's nodes are never in shadow mode, because that would break
// the cap by design.
func (n *modelNode) draw(order *rapid.Generator[queue.Order]) admit.Settings {
	low := rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(n.T, "min")
	high := low + rapid.SampledFrom([]int{0, 1, 2, 4}).Draw(n.T, "spread")
	return admit.Settings{
		Bounds: law.Bounds{Min: low, Max: high, Initial: rapid.IntRange(low, high).Draw(n.T, "initial")},
		Interval: rapid.SampledFrom([]time.Duration{
			1, time.Millisecond, time.Second, time.Hour,
		}).Draw(n.T, "interval"),
		Lookback:   rapid.SampledFrom([]time.Duration{1, 10 * time.Second}).Draw(n.T, "lookback"),
		MinSamples: rapid.SampledFrom([]int{1, 1, 3}).Draw(n.T, "samples"),
		QueueSize:  rapid.SampledFrom([]int{0, 1, 2, 3, 5, 5}).Draw(n.T, "size"),
		QueueTimeout: rapid.SampledFrom([]time.Duration{
			time.Second, time.Second, time.Millisecond, 1 << 62,
		}).Draw(n.T, "timeout"),
		Order:  order.Draw(n.T, "order"),
		Shadow: n.group == nil && oneIn(n.T, 10, "shadow"),
	}
}

// oneIn is true with probability 1/n; the bounds of a range would be drawn too often.
func oneIn(t *rapid.T, n int, label string) bool {
	odds := make([]bool, n)
	odds[n-1] = true
	return rapid.SampledFrom(odds).Draw(t, label)
}

func (n *modelNode) law(wild bool) law.Law {
	if wild {
		return wildLaw{n}
	}
	return law.Fixed{}
}

// A wildLaw answers with random limits, and reports the resulting limit to the model.
type wildLaw struct{ *modelNode }

func (l wildLaw) Controller(law.Bounds) (law.Controller, error) { return l, nil }

func (l wildLaw) Next(w law.Window) law.Decision {
	n := l.modelNode
	defer func() {
		if r := recover(); r != nil {
			n.panicked = r
			panic(r)
		}
	}()
	if w.Min != n.settings.Bounds.Min || w.Max != n.settings.Bounds.Max || w.Limit < w.Min || w.Limit > w.Max {
		n.Fatalf("the law is shown limit %d within %d and %d", w.Limit, w.Min, w.Max)
	}
	if !(w.InFlight >= 0) || !(w.Saturated >= 0 && w.Saturated <= 1) || w.Elapsed < 0 || w.Last < 0 || w.Age < 0 {
		n.Fatalf("the law is shown %+v", w)
	}
	d := law.Decision{
		Limit: rapid.OneOf(
			rapid.Float64Range(0, 6),
			rapid.SampledFrom([]float64{
				float64(w.Limit), float64(w.Limit), math.NaN(), math.Inf(1), math.Inf(-1), -1,
				1e300,
			}),
		).Draw(n.T, "decision"),
	}
	if rapid.Bool().Draw(n.T, "plans") {
		span := rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, -1, math.MaxInt64})
		count := rapid.SampledFrom([]int{0, 1, 2, 5, -1, math.MaxInt})
		d.Next = law.Plan{
			Settle: span.Draw(n.T, "settle"), Interval: span.Draw(n.T, "interval"), MaxAge: span.Draw(n.T, "age"),
			MinSamples: count.Draw(n.T, "least"), MaxSamples: count.Draw(n.T, "most"),
			Carried: rapid.Bool().Draw(n.T, "carried"),
		}
	}
	limit := d.Limit
	if math.IsNaN(limit) {
		limit = float64(w.Limit)
	}
	n.limit = min(max(int(min(max(limit, 0), 1e6)), w.Min), w.Max)
	n.see()
	return d
}
