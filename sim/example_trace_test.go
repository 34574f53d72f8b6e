package sim_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

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
func ExampleParseTrace() {
	_, err := sim.ParseTrace("requests.csv", strings.NewReader("arrival,service\n0.1,20ms\n0.2,0\nsoon,5ms\n"))
	fmt.Println(err)
	// Output:
	// requests.csv:3: service is 0s: want more than 0 and up to 10000h
	// requests.csv:4: arrival is "soon": want a date such as 2026-03-01T12:00:00.5Z or 01/Mar/2026:12:00:00 +0000, seconds, ms, us or ns since 1970, or a time since the start, 0 to 10000h, such as 0.5 or 35ms
}
