package suites

import (
	"slices"
	"time"

	"github.com/weir-go/weir/sim"
)

// Shared returns a system of 2 to 16 limiters before one server, each with a part of the requests.
// Its Regime names the difference between the limiters, or the change of the load or of the server.
func Shared(seed uint64) sim.Scenario {
	g := generator{sim.NewRand(seed, sharedStream), span{0.005, 0.04}, span{0.5, 2}}
	s, size, mean := g.begin("shared", seed, "together", "late", "unequal", "fixed", "steps", "fault")
	var throughput float64
	s.Server, throughput = g.server(size)
	s.Work = g.shortWork(mean)
	s.Arrivals = sim.Poisson{Rate: rounded(throughput / mean)}
	g.replicate(&s, replicasOf(size))
	s.Phases = []sim.Phase{{Length: 60 * time.Second, Load: rounded(g.from(1.1, 2))}}
	g.differ(&s, mean, size)
	return s
}

// differ draws the properties of a regime.
func (g generator) differ(s *sim.Scenario, mean, size float64) {
	switch s.Regime {
	case "together":
		s.LimiterStarts, s.LimiterShares = nil, nil
	case "late":
		s.LimiterStarts = nil
		for range s.Limiters {
			s.LimiterStarts = append(s.LimiterStarts, significant(mul(g.Float64(), 40)))
		}
		s.LimiterStarts[g.N(s.Limiters)] = 0
	case "unequal":
		s.LimiterShares = nil
		for range s.Limiters {
			s.LimiterShares = append(s.LimiterShares, significant(g.from(1, 20)))
		}
	case "fixed":
		g.neighbour(s, 2, max(3, size/2))
	case "steps":
		s.Phases = nil
		for range 3 {
			s.Phases = append(s.Phases, sim.Phase{Length: 25 * time.Second, Load: rounded(g.from(0.4, 2.2))})
		}
	case "fault":
		s.Phases = slices.Repeat([]sim.Phase{{Length: 25 * time.Second, Load: s.Phases[0].Load}}, 3)
		switch fault := &s.Phases[1]; g.N(3) {
		case 0:
			fault.Name, fault.Speed = "slow", rounded(g.from(0.3, 0.7))
		case 1:
			fault.Name, fault.Workers = "workers lost", rounded(g.from(0.3, 0.7))
		default:
			fault.Name, fault.Delay = "delay", seconds(mul(mean, g.from(0.5, 2)))
		}
	}
}
