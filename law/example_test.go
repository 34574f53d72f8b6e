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

func ExampleForms() {
	for _, form := range law.Forms() {
		if form.Name == "setpoint" {
			for _, s := range form.Settings {
				fmt.Println(s.Name, s.Allowed)
			}
		}
	}
	// Output:
	// budget more than 0s
	// without climb, burst, fail, yield, tick, look, stays or hold
}

// show drives a law from a limit of 20 through windows of a second in which the limit was
// used. Each window has the given average latency, which here is also the p95.
func show(l law.Law, latencies ...time.Duration) {
	bounds := law.Bounds{Min: 1, Max: 200, Initial: 20}
	controller, err := l.Controller(bounds)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := bounds.Initial
	for _, latency := range latencies {
		decision := controller.Next(law.Window{
			Limit: limit, Min: bounds.Min, Max: bounds.Max, Peak: limit,
			Elapsed: time.Second, Samples: 100, Mean: latency, Latencies: law.Sorted{latency},
		})
		from := limit
		limit = bounds.Clamp(decision.Limit, limit)
		fmt.Println(law.Explain(decision.Reason, from, limit))
	}
}

func ExampleAIMD() {
	show(law.AIMD{Timeout: 200 * time.Millisecond}, 50*time.Millisecond, 250*time.Millisecond)
	// Output:
	// average 50ms below 200ms: raised 20 to 21
	// average 250ms above 200ms: cut 21 to 18
}

func ExampleGradient() {
	show(law.Gradient{}, 50*time.Millisecond, 80*time.Millisecond, 400*time.Millisecond)
	// Output:
	// average 50ms below 100ms: raised 20 to 24
	// average 80ms below 100ms: raised 24 to 28
	// average 400ms above 100ms: cut 28 to 26
}

func ExampleGradient2() {
	show(law.Gradient2{Smoothing: 1}, 50*time.Millisecond, 60*time.Millisecond, 400*time.Millisecond)
	// Output:
	// average 50ms below 75ms: raised 20 to 24
	// average 60ms below 82.5ms: raised 24 to 28
	// average 400ms above 255ms: cut 28 to 21
}

func ExampleVegas() {
	show(law.Vegas{}, 50*time.Millisecond, 50*time.Millisecond, 70*time.Millisecond)
	// Output:
	// no-load latency 50ms after 0s: held at 20
	// standing queue 0 below 3: raised 20 to 26
	// standing queue 8 above 6: cut 26 to 25
}

// A server that completes at most 400 a second, at 100 ms.
func ExampleLittle() {
	bounds := law.Bounds{Min: 1, Max: 200, Initial: 20}
	controller, err := law.Little{}.Controller(bounds)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := bounds.Initial
	for range 6 {
		decision := controller.Next(law.Window{
			Limit: limit, Min: bounds.Min, Max: bounds.Max, Peak: limit,
			Elapsed: time.Second, Samples: min(10*limit, 400), InFlight: float64(limit),
		})
		from := limit
		limit = bounds.Clamp(decision.Limit, limit)
		fmt.Println(law.Explain(decision.Reason, from, limit))
	}
	// Output:
	// average 100ms below 115ms: raised 20 to 26
	// average 100ms below 115ms: raised 26 to 34
	// average 100ms below 115ms: raised 34 to 45
	// average 113ms below 115ms: raised 45 to 47
	// average 118ms above 115ms: cut 47 to 45
	// average 113ms below 115ms: raised 45 to 47
}

func ExamplePID() {
	show(law.PID{}, 200*time.Millisecond, 150*time.Millisecond, 100*time.Millisecond)
	// Output:
	// p95 200ms above 100ms: cut 20 to 8
	// p95 150ms above 100ms: cut 8 to 5
	// p95 100ms near 100ms: raised 5 to 6
}

func ExampleFixed_limit() {
	pinned, err := law.Parse("fixed(60)")
	fmt.Println(pinned, err)
	// Output: fixed(limit=60) <nil>
}
