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

// Clients that ask again a second after each answer are a Source.
func ExampleSource() {
	s := sim.Scenario{
		Name:   "closed loop",
		Server: sim.WorkerPool{Workers: 1},
		Source: func(*sim.Rand) sim.Source { return &loop{next: make([]time.Duration, 3)} },
		SLO:    time.Second,
		Phases: []sim.Phase{{Length: 10*time.Second + 500*time.Millisecond}},
	}
	result, err := sim.Run(s, law.Fixed{}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Requests, "requests of three clients")
	// Output: 30 requests of three clients
}

// loop is a sim.Source. next holds the times at which idle clients ask again, in order.
type loop struct{ next []time.Duration }

func (l *loop) Next() time.Duration {
	if len(l.next) == 0 {
		return sim.Never
	}
	return l.next[0]
}

func (l *loop) Send(time.Duration) sim.Arrival {
	l.next = l.next[1:]
	return sim.Arrival{Work: 50 * time.Millisecond}
}

func (l *loop) Ended(now time.Duration, _ sim.Arrival, _ bool) {
	l.next = append(l.next, now+time.Second)
}
