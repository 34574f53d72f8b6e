package suites

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/sim"
)

// Random returns a system like a service in production. Its ranges were written down before any law
// was tuned, so that no law is fitted to these systems. The ranges lie around the 50 workers of 50
// ms of the named suite. A fixed limit of 60 scores about as much on these systems as on the
// systems of earlier measurements. A third of the systems have several limiters, which are drawn
// last.
func Random(seed uint64) sim.Scenario {
	g := generator{sim.NewRand(seed, randomStream), span{0.005, 0.04}, span{0.5, 2.5}}
	size := math.Round(g.from(10, 150))
	mean := max(g.from(0.005, 0.2), size/3000) // at most 3000 requests per second, for short simulations
	s := sim.Scenario{
		Name: fmt.Sprintf("random-%d", seed),
		SLO:  max(50*time.Millisecond, seconds(mul(mean, g.from(5, 20)))),
	}
	var throughput float64
	s.Server, throughput = g.server(size)
	s.Work = g.work(mean)
	s.Arrivals = g.arrivals(throughput / mean)
	var client sim.Client
	if g.Float64() < 0.25 {
		client.Retry = sim.Retry{Times: 1 + g.N(3), Backoff: seconds(g.from(0.05, 0.5))}
	}
	client.Cancel = g.Float64() < 0.3
	s.Clients = []sim.Client{client}
	for i := range 3 {
		s.Phases = append(s.Phases, g.phase(i, mean))
	}
	if g.Float64() < 1.0/3 {
		s.Regime = "replicas"
		g.replicate(&s, usualReplicas)
	}
	return s
}

// arrivals draws bursts for 30% of the systems, with the same mean rate as for the other systems.
func (g generator) arrivals(rate float64) sim.Arrivals {
	if g.Float64() >= 0.3 {
		return sim.Poisson{Rate: rounded(rate)}
	}
	factor, calm, burst := rounded(g.from(2, 5)), g.from(2, 10), g.from(0.2, 2)
	mean := (calm + mul(factor, burst)) / (calm + burst)
	return sim.Bursts{Rate: rounded(rate / mean), Factor: factor, Calm: seconds(calm), Burst: seconds(burst)}
}

// phase draws a phase, which has a fault in 60% of the cases if it is not the first one. The
// load is relative to the capacity without faults.
func (g generator) phase(i int, mean float64) sim.Phase {
	p := sim.Phase{Length: seconds(math.Round(g.from(15, 30))), Load: rounded(g.from(0.5, 2.5))}
	if i == 0 || g.Float64() >= 0.6 {
		return p
	}
	switch g.N(5) {
	case 0:
		p.Name, p.Speed = "slow", rounded(g.from(0.3, 0.8))
	case 1:
		p.Name, p.Workers = "workers lost", rounded(g.from(0.3, 0.8))
	case 2:
		p.Name, p.Delay = "delay", seconds(mul(mean, g.from(0.5, 3)))
	case 3:
		p.Name, p.Errors = "errors", rounded(g.from(0.05, 0.5))
	default:
		p.Name, p.Pause = "pauses", sim.Pause{Every: 3 * time.Second, For: seconds(g.from(0.05, 0.3))}
	}
	return p
}
