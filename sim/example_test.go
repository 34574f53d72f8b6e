package sim_test

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// A service of 50 workers with 1.5 times the requests that it can serve, under a limit that
// is too low and one that is about right, compared with the best constant limit.
func Example() {
	scenario := sim.Scenario{
		Name:     "overload",
		Server:   sim.WorkerPool{Workers: 50},
		Work:     sim.Exponential{Mean: 50 * time.Millisecond},
		Arrivals: sim.Poisson{Rate: 1500},
		SLO:      400 * time.Millisecond,
		Phases:   []sim.Phase{{Length: 2 * time.Second}},
	}
	const seed = 1
	oracle, err := sim.Sweep(scenario, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, limit := range []int{20, 60} {
		scenario.Limiter.Initial = limit
		result, err := sim.Run(scenario, law.Fixed{}, seed)
		if err != nil {
			fmt.Println(err)
			return
		}
		score, err := oracle.Score(result)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("limit %d: %.0f%% of the oracle's goodput, %.0f%% refused\n",
			limit, score.Goodput, 100*score.Refused)
	}
	// Output:
	// limit 20: 39% of the oracle's goodput, 74% refused
	// limit 60: 99% of the oracle's goodput, 34% refused
}

// The latency of this server is base + k n² with a concurrency of n. A band around 50 ms has
// to settle between 53 and 69.
func ExampleQuadratic() {
	result, err := sim.Run(sim.Scenario{
		Name:     "quadratic",
		Server:   sim.Quadratic{Double: 50},
		Work:     sim.Constant{Mean: 20 * time.Millisecond},
		Arrivals: sim.Poisson{Rate: 2500},
		SLO:      200 * time.Millisecond,
		Phases:   []sim.Phase{{Length: 2 * time.Minute}},
	}, law.Band{Target: 50 * time.Millisecond}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range result.Series {
		if p.At%(30*time.Second) == 0 {
			fmt.Printf("%v: the limit is right: %t\n", p.At, p.Limit >= 53 && p.Limit <= 69)
		}
	}
	// Output:
	// 30s: the limit is right: false
	// 1m0s: the limit is right: true
	// 1m30s: the limit is right: true
	// 2m0s: the limit is right: true
}

// A custom server can be a curve: here each request beyond a hundred slows down all the
// others.
func ExampleCurve() {
	scenario := sim.Scenario{
		Name:     "thrashing",
		Server:   sim.Curve(func(n float64) float64 { return min(1, 50/n, 5000/(n*n)) }),
		Work:     sim.Exponential{Mean: 50 * time.Millisecond},
		Arrivals: sim.Poisson{Rate: 1500},
		SLO:      400 * time.Millisecond,
		Phases:   []sim.Phase{{Length: 20 * time.Second}},
	}
	for _, limit := range []int{50, 200} {
		scenario.Limiter.Initial = limit
		result, err := sim.Run(scenario, law.Fixed{}, 1)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("limit %d: %d%% good\n", limit, 100*result.Good/result.Requests)
	}
	// Output:
	// limit 50: 65% good
	// limit 200: 22% good
}

// An error names the file, the line and the field.
func ExampleParseScenario() {
	_, err := sim.ParseScenario("shop.json", []byte(`{
	"name": "shop",
	"arrivals": {"poisson": {"rate": -5}},
	"work": {"exponential": {"mean": "20ms"}},
	"server": {"pool": {"workers": 8}},
	"slo": "200ms",
	"phases": [{"length": "60s"}]
}`))
	fmt.Println(err)
	// Output: shop.json:3: arrivals.poisson.rate is -5: want more than 0 to 1e8
}
