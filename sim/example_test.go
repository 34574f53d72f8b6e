package sim_test

import (
	"fmt"
	"strings"
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

// A fan-out of 25 calls, 20 times a second, to a server that always has room: without a
// limit all calls are served, and a limit of 20 refuses five calls of each.
func ExampleBaseline() {
	scenario := sim.Scenario{
		Name:     "fan-out",
		Server:   sim.Unbounded{},
		Work:     sim.Constant{Mean: 10 * time.Millisecond},
		Arrivals: sim.Batches{Rate: 20, Size: 25, Periodic: true},
		SLO:      100 * time.Millisecond,
		Phases:   []sim.Phase{{Length: 10 * time.Second}},
	}
	baseline, err := sim.BaselineOf(scenario, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := sim.Run(scenario, law.Fixed{Limit: 10}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	comparison, err := baseline.Compare(result)
	if err != nil {
		fmt.Println(err)
		return
	}
	possible := comparison.Possible[0]
	fmt.Printf("no limit %d, a limit of 20 %d, a limit of 10 %d\n",
		possible.Unlimited, possible.Twenty, comparison.Good[0])
	// Output: no limit 4975, a limit of 20 3980, a limit of 10 1990
}

// A log of requests may have any columns. The times of this one are in milliseconds.
func ExampleTraceReader() {
	const log = `TIMESTAMP,took_ms
2023-11-16 18:15:46.6805900,1359
2023-11-16 18:15:50.9951690,3310
2023-11-16 18:15:51.2225670,1714
`
	reader := sim.TraceReader{Arrival: "TIMESTAMP", Service: "took_ms*ms"}
	trace, err := reader.Parse("llm.csv", strings.NewReader(log))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range trace {
		fmt.Printf("after %v: %v of work\n", a.At.Round(time.Millisecond), a.Work.Round(time.Millisecond))
	}
	server := sim.Sharing{Cores: 2}
	cores, _ := sim.EffectiveWorkers(server)
	fmt.Printf("load %.2f\n", trace.Offered()/cores)

	result, err := sim.Run(sim.Scenario{
		Name: "llm", Trace: trace, Server: server, SLO: 30 * time.Second,
		Phases: []sim.Phase{{Length: trace.Length()}},
	}, law.Setpoint{}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Requests, "requests,", result.Refused, "refused")
	// Output:
	// after 0s: 1.359s of work
	// after 4.315s: 3.31s of work
	// after 4.542s: 1.714s of work
	// load 0.51
	// 3 requests, 0 refused
}

// A line with a fault does not hide the next one.
func ExampleTraceReader_Parse() {
	_, err := sim.TraceReader{}.Parse("requests.csv", strings.NewReader("arrival,service\n0.1,20ms\n0.2,0\nsoon,5ms\n"))
	fmt.Println(err)
	// Output:
	// requests.csv:3: service is 0s: want more than 0 and up to 10000h
	// requests.csv:4: arrival is "soon": want a date such as 2026-03-01T12:00:00.5Z or 01/Mar/2026:12:00:00 +0000, seconds, ms, us or ns since 1970, or a time since the start, 0 to 10000h, such as 0.5 or 35ms
}
