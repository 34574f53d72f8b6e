package sim

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Replicas are the ranges from which the limiters of a shared system are drawn.
type Replicas struct {
	Count   Range         // number of limiters
	Within  time.Duration // time in which they start, in half of the systems
	Skew    time.Duration // maximum by which their clocks are ahead
	Unequal Range         // shares of requests, in half of the systems; equal in the others
}

// UsualReplicas start within 10 s, with clocks synchronized by NTP.
var UsualReplicas = Replicas{
	Count:   Range{2, 16},
	Within:  10 * time.Second,
	Skew:    20 * time.Millisecond,
	Unequal: Range{1, 8},
}

// replicate puts several limiters before a system.
func (r *Rand) replicate(s *Scenario, of Replicas) {
	s.Limiters = int(math.Round(r.from(of.Count)))
	unequal, late := r.N(2) == 0, r.N(2) == 0
	for range s.Limiters {
		if unequal {
			s.LimiterShares = append(s.LimiterShares, significant(r.from(of.Unequal)))
		}
		if late {
			s.LimiterStarts = append(s.LimiterStarts, significant(mul(r.Float64(), of.Within.Seconds())))
		}
		s.LimiterSkew = append(s.LimiterSkew, significant(mul(r.Float64(), of.Skew.Seconds())))
	}
}

// neighbour pins one of the limiters to a constant limit.
func (r *Rand) neighbour(s *Scenario, limit Range) {
	s.LimiterFixed = make([]int, s.Limiters)
	s.LimiterFixed[r.N(s.Limiters)] = int(math.Round(r.from(limit)))
}

// replicas draws up to 64 limiters, with clocks up to half a second apart; in a third of the
// systems one more has a fixed limit.
func (d *draft) replicas() {
	d.steadily()
	skew := d.from(Range{0.001, 0.5})
	// They start within the start and half of the first phase. Their lengths are drawn
	// later, but are never less than this.
	within := seconds(max(10, 30*d.mean) + max(2.5, 10*d.mean))
	d.replicate(&d.scenario, Replicas{Range{2, min(64, d.size)}, within, seconds(skew), Range{1, 8}})
	if d.N(3) == 0 {
		d.neighbour(&d.scenario, Range{2, 40})
	}
}

// Shared returns a system of 2 to 16 limiters before one server, each with a part of the
// requests; the same one for the same seed. Its Regime names the differences between the
// limiters, or of the load.
func Shared(seed uint64) Scenario {
	r := newRand(seed, sharedStream)
	kinds := []string{"together", "late", "unequal", "fixed", "steps", "fault"}
	kind := kinds[seed%uint64(len(kinds))]
	g := generator{Ranges{
		Alpha: Range{0.005, 0.04}, CV: Range{0.5, 2},
		Speed: Range{0.3, 0.7}, Workers: Range{0.3, 0.7}, Delay: Range{0.5, 2},
	}, r}
	size := math.Round(r.from(Range{10, 150}))
	mean := max(r.from(Range{0.01, 0.1}), size/1500)
	s := Scenario{
		Name:   fmt.Sprintf("shared-%d-%s", seed, kind),
		Regime: kind,
		SLO:    seconds(mul(mean, r.from(Range{3, 20}))),
	}
	var throughput float64
	s.Server, throughput = g.server(size)
	s.Work = []Work{
		Constant{Mean: seconds(mean)},
		Exponential{Mean: seconds(mean)},
		Lognormal{Mean: seconds(mean), CV: rounded(r.from(g.CV))},
	}[r.N(3)]
	s.Arrivals = Poisson{Rate: rounded(throughput / mean)}
	replicas := UsualReplicas
	replicas.Count.High = min(replicas.Count.High, size)
	r.replicate(&s, replicas)
	s.Phases = []Phase{{Length: 60 * time.Second, Load: rounded(r.from(Range{1.1, 2}))}}
	g.differ(&s, kind, mean, size)
	return s
}

// differ draws the properties of a kind of shared system.
func (g generator) differ(s *Scenario, kind string, mean, size float64) {
	switch kind {
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
			s.LimiterShares = append(s.LimiterShares, significant(g.from(Range{1, 20})))
		}
	case "fixed":
		g.neighbour(s, Range{2, max(3, size/2)})
	case "steps":
		s.Phases = nil
		for range 3 {
			s.Phases = append(s.Phases, Phase{Length: 25 * time.Second, Load: rounded(g.from(Range{0.4, 2.2}))})
		}
	case "fault":
		load := s.Phases[0].Load
		s.Phases = slices.Repeat([]Phase{{Length: 25 * time.Second, Load: load}}, 3)
		switch fault := &s.Phases[1]; g.N(3) {
		case 0:
			fault.Name, fault.Speed = "slow", rounded(g.from(g.Speed))
		case 1:
			fault.Name, fault.Workers = "workers lost", rounded(g.from(g.Workers))
		default:
			fault.Name, fault.Delay = "delay", seconds(mul(mean, g.from(g.Delay)))
		}
	}
}
