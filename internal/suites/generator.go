package suites

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
	"github.com/weir-go/weir/sim"
)

// These streams of random numbers differ from the streams of a simulation with the same seed.
const (
	randomStream = iota + 6
	harmStream
	sharedStream
	pushbackStream
)

// A span is the range of a number that is drawn log-uniformly, so that 2 to 4 is as likely as
// 4 to 8.
type span struct{ low, high float64 }

// A generator draws the parts of systems.
type generator struct {
	*sim.Rand

	alpha span // contention of a USL server; its coherence follows from its peak
	cv    span // coefficient of variation of lognormal work
}

// begin draws the size of a server and the mean of its work in seconds, and returns a scenario with
// the regime of the seed.
func (g generator) begin(suite string, seed uint64, regimes ...string) (s sim.Scenario, size, mean float64) {
	s.Regime = regimes[seed%uint64(len(regimes))]
	s.Name = fmt.Sprintf("%s-%d-%s", suite, seed, s.Regime)
	size = math.Round(g.from(10, 150))
	mean = max(g.from(0.01, 0.1), size/1500)
	s.SLO = seconds(mul(mean, g.from(3, 20)))
	return s, size, mean
}

func (g generator) from(low, high float64) float64 {
	return mul(low, portable.Exp(mul(g.Float64(), portable.Log(high/low))))
}

func (g generator) within(s span) float64 { return g.from(s.low, s.high) }

// server draws a pool, processor sharing or a USL server. It returns the largest throughput of the
// server too, relative to a single job. The size is the number of workers or cores, or the
// concurrency at which the throughput of a USL server peaks.
func (g generator) server(size float64) (sim.Server, float64) {
	switch g.N(3) {
	case 0:
		return sim.WorkerPool{Workers: int(size)}, size
	case 1:
		return sim.Sharing{Cores: size}, size
	}
	alpha := rounded(g.within(g.alpha))
	return usl(alpha, (1-alpha)/mul(size, size), size)
}

// usl returns a server, and its throughput with the given number of jobs, relative to a single job.
func usl(alpha, beta, jobs float64) (sim.Server, float64) {
	return sim.USL{Alpha: alpha, Beta: beta}, jobs / (1 + mul(alpha, jobs-1) + mul(mul(beta, jobs), jobs-1))
}

// work draws a distribution with that mean in seconds. In bimodal work, 5 to 50% of the requests
// take ten times as long as the others.
func (g generator) work(mean float64) sim.Work {
	switch g.N(4) {
	case 0:
		return sim.Constant{Mean: seconds(mean)}
	case 1:
		return sim.Exponential{Mean: seconds(mean)}
	case 2:
		return sim.Lognormal{Mean: seconds(mean), CV: rounded(g.within(g.cv))}
	}
	share := rounded(g.from(0.05, 0.5))
	fast := mean / (1 + mul(9, share))
	return sim.Bimodal{Fast: seconds(fast), Slow: seconds(10 * fast), Share: share}
}

// shortWork draws a distribution without outliers, with that mean in seconds.
func (g generator) shortWork(mean float64) sim.Work {
	return []sim.Work{
		sim.Constant{Mean: seconds(mean)},
		sim.Exponential{Mean: seconds(mean)},
		sim.Lognormal{Mean: seconds(mean), CV: rounded(g.within(g.cv))},
	}[g.N(3)]
}

// replicas are the ranges from which the limiters of a shared system are drawn.
type replicas struct {
	most    float64       // number of limiters, from 2
	within  time.Duration // time in which they start, in half of the systems
	skew    time.Duration // maximum by which their clocks are ahead
	unequal float64       // largest share of requests in half of the systems, from 1
}

// usualReplicas start within 10 s, with clocks synchronized by NTP.
var usualReplicas = replicas{most: 16, within: 10 * time.Second, skew: 20 * time.Millisecond, unequal: 8}

// replicasOf returns the usual ranges, with no more limiters than the size of the server.
func replicasOf(size float64) replicas {
	few := usualReplicas
	few.most = min(few.most, size)
	return few
}

// replicate puts several limiters before a system.
func (g generator) replicate(s *sim.Scenario, of replicas) {
	s.Limiters = int(math.Round(g.from(2, of.most)))
	unequal, late := g.N(2) == 0, g.N(2) == 0
	for range s.Limiters {
		if unequal {
			s.LimiterShares = append(s.LimiterShares, significant(g.from(1, of.unequal)))
		}
		if late {
			s.LimiterStarts = append(s.LimiterStarts, significant(mul(g.Float64(), of.within.Seconds())))
		}
		s.LimiterSkew = append(s.LimiterSkew, significant(mul(g.Float64(), of.skew.Seconds())))
	}
}

// neighbour gives one of the limiters a constant limit.
func (g generator) neighbour(s *sim.Scenario, low, high float64) {
	s.LimiterFixed = make([]int, s.Limiters)
	s.LimiterFixed[g.N(s.Limiters)] = int(math.Round(g.from(low, high)))
}

// mul returns a product that is rounded before it is added to anything.
func mul(a, b float64) float64 { return float64(a * b) }

// rounded rounds a number to three decimals, for readable files.
func rounded(v float64) float64 { return math.Round(mul(v, 1000)) / 1000 }

// significant rounds a number to four digits.
func significant(v float64) float64 {
	scale := 1.0
	for v > 0 && mul(v, scale) < 1000 {
		scale *= 10
	}
	return math.Round(mul(v, scale)) / scale
}

// seconds returns a duration rounded to 10 microseconds or, below 500 microseconds, to 0.1
// microseconds. Before that it bounds the duration to a nanosecond and a day.
func seconds(s float64) time.Duration {
	d := time.Duration(min(max(mul(s, 1e9), 1), float64(24*time.Hour)))
	if d < 500*time.Microsecond {
		return d.Round(100)
	}
	return d.Round(10 * time.Microsecond)
}
