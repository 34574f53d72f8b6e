package law_test

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/law"
)

func ExampleParse() {
	l, err := law.Parse("band(target = 200ms, max_cut = 10)")
	fmt.Println(l, err)

	_, err = law.Parse("band(tolerance=1.5)")
	fmt.Println(err)
	// Output:
	// band(target=200ms,max_cut=10) <nil>
	// law: band: tolerance 1.5 out of range: want 0 to less than 1
}

func ExampleBand() {
	bounds := law.Bounds{Min: 1, Max: 200, Initial: 20}
	controller, err := law.Band{Target: 100 * time.Millisecond}.Controller(bounds)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := bounds.Initial
	for _, p95 := range []time.Duration{131, 98, 60} {
		decision := controller.Next(law.Window{
			Limit: limit, Min: bounds.Min, Max: bounds.Max,
			Samples:   100,
			Peak:      limit,
			Latencies: law.SortedOf(p95 * time.Millisecond),
		})
		from := limit
		limit = bounds.Clamp(decision.Limit, limit)
		fmt.Println(law.Explain(decision.Reason, from, limit))
	}
	// Output:
	// p95 131ms above 115ms: cut 20 to 14
	// p95 98ms near 100ms: held at 14
	// p95 60ms below 85ms: raised 14 to 15
}

func ExampleFixed() {
	controller, _ := law.Fixed{}.Controller(law.Bounds{Min: 1, Max: 200, Initial: 20})
	decision := controller.Next(law.Window{Limit: 20, Min: 1, Max: 200})
	fmt.Println(law.Explain(decision.Reason, 20, int(decision.Limit)))
	// Output: pinned: held at 20
}

// Halve is a law of one's own: it halves the limit when work runs out of time
// and adds a slot when none does.
type Halve struct{}

func (Halve) Controller(law.Bounds) (law.Controller, error) { return halve{}, nil }

type halve struct{}

func (halve) Next(w law.Window) law.Decision {
	reason := law.Reason{Code: law.Below, Signal: law.Errors, Have: w.TimeoutRate(), Want: 0.01}
	if reason.Have > reason.Want {
		reason.Code = law.Above
		return law.Decision{Limit: float64(w.Limit) / 2, Reason: reason}
	}
	return law.Decision{Limit: float64(w.Limit) + 1, Reason: reason}
}

func ExampleLaw() {
	bounds := law.Bounds{Min: 1, Max: 200, Initial: 20}
	controller, _ := Halve{}.Controller(bounds)
	decision := controller.Next(law.Window{Limit: 20, Samples: 75, Timeouts: 25})
	fmt.Println(law.Explain(decision.Reason, 20, bounds.Clamp(decision.Limit, 20)))
	// Output: error rate 25% above 1%: cut 20 to 10
}
