package suites

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/sim"
)

// Harm returns a system in which limiters are known to do harm. Its Regime names its kind,
// and the kinds take turns from seed to seed. A law does harm if fewer requests are answered
// in time than without any limit or under a fixed limit of 20, whichever is better: see
// [sim.Baseline].
//
// Work is from 50 µs to 10 minutes, servers have knees from 1 to 10,000 or no knee, and do 0.2 to
// 50,000 requests per second. A phase lasts a hundred times the latency of an idle server, and at
// least 5 s and 60 requests; the Start lasts 10 s or, if that is longer, 30 latencies. A system has
// at most 200,000 requests: if it would have more, the start has less load and the phases are
// shorter. Phases that would be shorter than 20 latencies have less load too.
func Harm(seed uint64) sim.Scenario {
	r := regimes[seed%uint64(len(regimes))]
	d := &draft{
		generator: generator{Rand: sim.NewRand(seed, harmStream), cv: span{0.5, 2.5}},
		regime:    r, weight: 1, budget: mostRequests, shortest: 20,
	}
	d.scenario = sim.Scenario{Name: fmt.Sprintf("harm-%d-%s", seed, r.name), Regime: r.name}
	d.system()
	r.build(d)
	return d.timed()
}

const (
	// mostRequests is the largest mean number of requests of a system. Bursts may double the
	// number, so a regime with bursts has a smaller budget.
	mostRequests = 180_000

	// startShare is the largest share of requests during the start.
	startShare = 0.4

	// leastRequests is the least number of requests of a phase that is not meant to be sparse, so
	// that five seeds can distinguish 97% from 90%.
	leastRequests = 60

	// leastUSL is the smallest knee of a USL server. With a smaller knee, the coherence is so high
	// that ten jobs stop the server for good.
	leastUSL = 5
)

// A draft is a system being drawn.
type draft struct {
	generator
	regime   regime
	scenario sim.Scenario

	size     float64 // the knee: the number of jobs that the server runs well at once
	mean     float64 // work, in seconds
	capacity float64 // jobs per second at best
	rate     float64 // of requests, at a load of 1
	weight   float64 // mean jobs of a request
	most     float64 // requests that come at once
	slow     float64 // latency beside the work, in seconds
	sparse   []int   // number of requests of each phase, if not set by its load; the start comes first
	budget   float64 // of requests
	shortest float64 // minimum length of a phase, in latencies, if the budget cuts it
	lasting  float64 // minimum length of a phase, in seconds
}

var (
	usualSizes = span{1, 10_000}
	usualWork  = span{50e-6, 600}
	usualRates = span{0.2, 50_000}
)

// system draws the server, its work and its clients.
func (d *draft) system() {
	sizes := cmp.Or(d.regime.sizes, usualSizes)
	works := cmp.Or(d.regime.works, usualWork)
	rates := cmp.Or(d.regime.rates, usualRates)
	for rate := -1.0; rate < rates.low || rate > rates.high; rate = d.size / d.mean {
		d.size, d.mean = math.Round(d.within(sizes)), d.within(works)
	}
	d.serve(d.size)
	d.scenario.Work = d.anyWork()
	d.scenario.SLO = max(time.Millisecond, seconds(mul(d.mean, d.from(4, 20))))
	var client sim.Client
	if d.Float64() < 0.15 {
		client.Retry = sim.Retry{Times: 1 + d.N(3), Backoff: d.backoff()}
	}
	client.Cancel = d.Float64() < 0.2
	d.scenario.Clients = []sim.Client{client}
	d.scenario.Arrivals = sim.Poisson{Rate: significant(d.rate)}
}

// serve draws a server of that size. A large server has less contention, because otherwise it would
// have no knee.
func (d *draft) serve(size float64) {
	d.size = size
	d.alpha = span{0.2 / max(10, size), 2 / max(50, size)}
	var throughput float64
	d.scenario.Server, throughput = d.server(size)
	d.capacity = throughput / d.mean
	d.rate = d.capacity
}

// server draws like a generator, but does not round contention to zero, and replaces a USL server
// below leastUSL by a pool.
func (d *draft) server(size float64) (sim.Server, float64) {
	server, throughput := d.generator.server(size)
	switch _, ok := server.(sim.USL); {
	case ok && size < leastUSL:
		return sim.WorkerPool{Workers: int(size)}, size
	case ok:
		alpha := significant(d.within(d.alpha))
		return usl(alpha, significant((1-alpha)/mul(size, size)), size)
	}
	return server, throughput
}

func (d *draft) anyWork() sim.Work {
	if d.N(5) == 0 {
		return sim.Pareto{Mean: seconds(d.mean), Alpha: rounded(d.from(1.2, 3))}
	}
	return d.work(d.mean)
}

func (d *draft) backoff() time.Duration { return seconds(mul(d.mean, d.from(0.5, 3))) }

// phase adds a phase. timed sets its length.
func (d *draft) phase(load float64, change func(*sim.Phase)) {
	p := sim.Phase{Load: load}
	if change != nil {
		change(&p)
	}
	d.scenario.Phases = append(d.scenario.Phases, p)
	d.sparse = append(d.sparse, 0)
}

// timed sets the lengths of the phases, with a start before them, and returns the scenario.
func (d *draft) timed() sim.Scenario {
	s := &d.scenario
	latency := d.mean + d.slow
	start := sim.Phase{Name: "start", Length: seconds(max(10, 30*latency)), Load: s.Phases[0].Load}
	arrivals := func(load, length float64) float64 { return mul(mul(d.rate, d.weight), mul(load, length)) }
	if all := arrivals(start.Load, start.Length.Seconds()); all > startShare*d.budget {
		start.Load *= startShare * d.budget / all
	}
	left := d.budget - arrivals(start.Load, start.Length.Seconds())
	length, wanted := max(5, 100*latency, d.lasting), 0.0
	for i, p := range s.Phases {
		if d.sparse[i] == 0 {
			length = max(length, leastRequests/mul(d.rate, p.Load))
		}
	}
	for _, p := range s.Phases {
		wanted += arrivals(p.Load, length)
	}
	thinned := 1.0
	if fit := left / wanted; fit < 1 {
		length *= fit
		if least := d.shortest * latency; length < least {
			thinned, length = length/least, least
		}
	}
	s.Phases = append([]sim.Phase{start}, s.Phases...)
	d.sparse = append([]int{d.sparse[0]}, d.sparse...)
	for i := range s.Phases {
		p := &s.Phases[i]
		if i > 0 {
			p.Length = max(time.Millisecond, seconds(length))
			p.Load *= thinned
		}
		if d.sparse[i] > 0 {
			p.Load = float64(d.sparse[i]) / mul(d.rate, p.Length.Seconds())
		}
		p.Load = significant(p.Load)
	}
	s.Start = start.Length
	s.Sample = max(time.Second, (start.Length+seconds(length)*time.Duration(len(s.Phases)-1))/500)
	s.OracleMax = d.worthTrying(latency)
	return *s
}

// worthTrying returns the highest limit that the oracle tries, above which no limit is better: a
// few times the knee, as far as the SLO permits the wait, and room for two batches.
func (d *draft) worthTrying(latency float64) int {
	patience := min(6, d.scenario.SLO.Seconds()/d.mean)
	inflight := mul(d.size, latency/d.mean)
	return int(max(40, mul(patience, inflight)+2*mul(d.most, d.weight)))
}
