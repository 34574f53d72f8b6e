package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// Ranges are the ranges from which [Random] draws a system. A number is drawn log-uniformly,
// so that 2 to 4 is as likely as 4 to 8; a share is a probability.
type Ranges struct {
	// Size is the size of the server: workers, cores, or the concurrency at which the
	// throughput of a USL server peaks.
	Size Range

	// Work is the mean service time in seconds. It is longer if the server could
	// otherwise do more than Fastest requests per second, which keeps a simulation
	// short.
	Work    Range
	Fastest float64

	// Alpha is the contention of a USL server; Beta follows from its peak.
	Alpha Range

	// CV is the coefficient of variation of lognormal work. Constant,
	// exponential, lognormal and bimodal work (with a slow share from 5% to 50%
	// that takes ten times as long) are equally likely, and so are pool,
	// processor sharing and USL servers.
	CV Range

	// SLO is the patience of clients in mean service times, but not less
	// than LeastSLO.
	SLO      Range
	LeastSLO time.Duration

	// Bursty is the share of systems whose arrivals come in bursts, with BurstFactor,
	// and means Calm and Burst in seconds. Their mean rate equals the rate of the
	// others.
	Bursty                   float64
	BurstFactor, Calm, Burst Range

	// Retrying is the share of systems whose clients try again, from once to
	// MostRetries times, with a Backoff in seconds.
	Retrying    float64
	MostRetries int
	Backoff     Range

	// Cancelling is the share of systems whose clients cancel work.
	Cancelling float64

	// Replicated is the share of systems with several limiters, drawn from Replicas.
	// They are drawn last, so that a system without them is the same as with a share of
	// 0.
	Replicated float64
	Replicas   Replicas

	// Load is the load of each phase as a multiple of the capacity without
	// faults, and Phase its length in seconds. There are three.
	Load, Phase Range

	// Faulty is the share of phases with a fault; the first phase never has one. The
	// faults are equally likely: Speed, Workers, Delay in mean service times, Errors,
	// and pauses of Pause seconds every 3.
	Faulty                               float64
	Speed, Workers, Delay, Errors, Pause Range
}

// A Range is from Low to High.
type Range struct{ Low, High float64 }

// DefaultRanges were written down before any law was tuned, so that no law is fitted to
// these systems. They lie around the 50 workers of 50 ms of the named suite, and a fixed
// limit of 60 scores about as much on them as on the systems of earlier measurements.
var DefaultRanges = Ranges{
	Size: Range{10, 150}, Work: Range{0.005, 0.2}, Fastest: 3000,
	Alpha: Range{0.005, 0.04}, CV: Range{0.5, 2.5},
	SLO: Range{5, 20}, LeastSLO: 50 * time.Millisecond,
	Bursty: 0.3, BurstFactor: Range{2, 5}, Calm: Range{2, 10}, Burst: Range{0.2, 2},
	Retrying: 0.25, MostRetries: 3, Backoff: Range{0.05, 0.5},
	Cancelling: 0.3,
	Load:       Range{0.5, 2.5}, Phase: Range{15, 30},
	Faulty: 0.6, Speed: Range{0.3, 0.8}, Workers: Range{0.3, 0.8}, Delay: Range{0.5, 3},
	Errors: Range{0.05, 0.5}, Pause: Range{0.05, 0.3},
	Replicated: 1.0 / 3, Replicas: UsualReplicas,
}

// Random returns a system drawn from the ranges; the same one for the same seed.
func Random(ranges Ranges, seed uint64) Scenario {
	g := generator{ranges, newRand(seed, systemStream)}
	size := math.Round(g.from(g.Size))
	mean := max(g.from(g.Work), size/g.Fastest)
	s := Scenario{
		Name: fmt.Sprintf("random-%d", seed),
		SLO:  max(g.LeastSLO, seconds(mul(mean, g.from(g.SLO)))),
	}
	var throughput float64
	s.Server, throughput = g.server(size)
	capacity := throughput / mean
	s.Work = g.work(mean)
	s.Arrivals = g.arrivals(capacity)
	var client Client
	if g.Float64() < g.Retrying {
		client.Retry = Retry{Times: 1 + g.N(g.MostRetries), Backoff: seconds(g.from(g.Backoff))}
	}
	client.Cancel = g.Float64() < g.Cancelling
	s.Clients = []Client{client}
	for i := range 3 {
		s.Phases = append(s.Phases, g.phase(i, mean))
	}
	if g.Float64() < g.Replicated {
		s.Regime = "replicas"
		g.replicate(&s, g.Replicas)
	}
	return s
}

// A generator draws systems.
type generator struct {
	Ranges
	*Rand
}

// from draws log-uniformly from a range.
func (r *Rand) from(x Range) float64 {
	return mul(x.Low, portable.Exp(mul(r.Float64(), portable.Log(x.High/x.Low))))
}

// server returns a server and the largest amount of work that it does at once, in jobs.
func (g generator) server(size float64) (Server, float64) {
	switch g.N(3) {
	case 0:
		return WorkerPool{Workers: int(size)}, size
	case 1:
		return Sharing{Cores: size}, size
	}
	alpha := rounded(g.from(g.Alpha))
	u := USL{Alpha: alpha, Beta: (1 - alpha) / mul(size, size)}
	return u, size / (1 + mul(u.Alpha, size-1) + mul(mul(u.Beta, size), size-1))
}

func (g generator) work(mean float64) Work {
	switch g.N(4) {
	case 0:
		return Constant{Mean: seconds(mean)}
	case 1:
		return Exponential{Mean: seconds(mean)}
	case 2:
		return Lognormal{Mean: seconds(mean), CV: rounded(g.from(g.CV))}
	}
	share := rounded(g.from(Range{0.05, 0.5}))
	fast := mean / (1 + mul(9, share))
	return Bimodal{Fast: seconds(fast), Slow: seconds(10 * fast), Share: share}
}

func (g generator) arrivals(rate float64) Arrivals {
	if g.Float64() >= g.Bursty {
		return Poisson{Rate: rounded(rate)}
	}
	factor, calm, burst := rounded(g.from(g.BurstFactor)), g.from(g.Calm), g.from(g.Burst)
	mean := (calm + mul(factor, burst)) / (calm + burst)
	return Bursts{Rate: rounded(rate / mean), Factor: factor, Calm: seconds(calm), Burst: seconds(burst)}
}

func (g generator) phase(i int, mean float64) Phase {
	p := Phase{Length: seconds(math.Round(g.from(g.Phase))), Load: rounded(g.from(g.Load))}
	if i == 0 || g.Float64() >= g.Faulty {
		return p
	}
	switch g.N(5) {
	case 0:
		p.Name, p.Speed = "slow", rounded(g.from(g.Speed))
	case 1:
		p.Name, p.Workers = "workers lost", rounded(g.from(g.Workers))
	case 2:
		p.Name, p.Delay = "delay", seconds(mul(mean, g.from(g.Delay)))
	case 3:
		p.Name, p.Errors = "errors", rounded(g.from(g.Errors))
	default:
		p.Name, p.Pause = "pauses", Pause{Every: 3 * time.Second, For: seconds(g.from(g.Pause))}
	}
	return p
}

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

// seconds returns a duration rounded to 10 microseconds, or to 0.1 if that would be coarse.
func seconds(s float64) time.Duration {
	d := nanoseconds(mul(s, 1e9))
	if d < 500*time.Microsecond {
		return d.Round(100)
	}
	return d.Round(10 * time.Microsecond)
}
