package suites

import (
	"math"
	"time"

	"github.com/weir-go/weir/sim"
)

// Pushback returns a system whose server refuses work above a concurrency that its clients do not
// know. In half of the systems its refusals name a time to come back. Behind that limit is a server
// that never becomes slower, or a server as [Random] draws it. In half of the systems the work
// carries its deadline. The Regime names the special feature: nothing, several limiters, a limit
// that grows, or a client whose work is always refused.
func Pushback(seed uint64) sim.Scenario {
	g := generator{sim.NewRand(seed, pushbackStream), span{0.005, 0.04}, span{0.5, 2}}
	s, size, mean := g.begin("pushback", seed, "alone", "replicas", "grows", "quota")
	s.Server = sim.Unbounded{}
	throughput, most := size, size
	if g.N(2) == 0 {
		s.Server, throughput = g.server(size)
		most = math.Round(mul(size, g.from(1, 3)))
	}
	s.Work = g.shortWork(mean)
	s.Arrivals = sim.Poisson{Rate: rounded(throughput / mean)}
	refuse := sim.Refusals{Above: int(most)}
	if g.N(2) == 0 {
		refuse.RetryAfter = seconds(g.from(0.1, 30))
	}
	s.Clients = []sim.Client{{Deadlines: g.N(2) == 0}}
	s.Phases = []sim.Phase{{Length: 60 * time.Second, Load: rounded(g.from(0.8, 2.5)), Refuse: refuse}}
	switch s.Regime {
	case "replicas":
		g.replicate(&s, replicasOf(size))
	case "grows":
		s.Phases[0].Length = 30 * time.Second
		larger := s.Phases[0]
		larger.Name = "grown"
		larger.Refuse.Above = int(math.Round(mul(most, g.from(1.5, 3))))
		s.Phases = append(s.Phases, larger)
	case "quota":
		over := s.Clients[0]
		over.Name, over.Over, over.Share = "over its quota", true, rounded(g.from(0.02, 0.5))
		s.Clients[0].Name = "others"
		s.Clients = append(s.Clients, over)
	}
	return s
}
