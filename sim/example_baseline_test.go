package sim_test

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

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
