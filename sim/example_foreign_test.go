package sim_test

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// A homemade limiter raises its limit by one after as many quick answers as the limit, and
// lowers it by a tenth after a slow one.
type homemade struct {
	limit    float64
	inflight int
}

func (h *homemade) Limit() int { return int(h.limit) }

func (h *homemade) Acquire(began time.Duration) (func(time.Duration, sim.Outcome), bool) {
	if h.inflight >= h.Limit() {
		return nil, false
	}
	h.inflight++
	return func(ended time.Duration, how sim.Outcome) {
		h.inflight--
		switch {
		case ended-began > 200*time.Millisecond:
			h.limit = max(1, 0.9*h.limit)
		case how == sim.Success:
			h.limit += 1 / h.limit
		}
	}, true
}

// A custom limiter against one of Weir's laws, on the same requests.
func ExampleRunForeign() {
	const seed = 1
	scenario := sim.Scenario{
		Name:     "twice the load",
		Server:   sim.USL{Alpha: 0.02, Beta: 0.0005},
		Work:     sim.Exponential{Mean: 15700 * time.Microsecond},
		Arrivals: sim.Poisson{Rate: 2000},
		SLO:      250 * time.Millisecond,
		Phases:   []sim.Phase{{Length: 10 * time.Second}},
	}
	mine, err := sim.RunForeign(scenario, sim.Foreign{
		Name: "homemade",
		New:  func(l sim.Limiter) sim.Gate { return &homemade{limit: float64(l.Initial)} },
	}, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	ours, err := sim.Run(scenario, law.Gradient{}, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	oracle, err := sim.Sweep(scenario, seed)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, result := range []*sim.Result{mine, ours} {
		score, err := oracle.Score(result)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %.0f%% of the oracle's goodput\n", score.Law, score.Goodput)
	}
	// Output:
	// homemade: 98% of the oracle's goodput
	// gradient: 95% of the oracle's goodput
}
