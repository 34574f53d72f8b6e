package suites

import (
	"math"
	"time"

	"github.com/weir-go/weir/sim"
)

// A regime is a kind of system in which a limiter that does well on other systems may do harm.
type regime struct {
	name                string
	sizes, works, rates span         // the usual spans if they are zero
	build               func(*draft) // draws its special properties, and the phases
}

// regimes lists all regimes, in the order of seeds.
var regimes = []regime{
	{name: "fanout", build: (*draft).fanout},
	{name: "bursts", sizes: span{5, 1000}, build: (*draft).bursts},
	{name: "onoff", sizes: span{5, 1000}, build: (*draft).onOff},
	{name: "sparse", sizes: span{1, 500}, build: (*draft).sparsely},
	{name: "steady", build: (*draft).steadily},
	{name: "long", works: span{1, 600}, build: (*draft).steadily},
	{name: "short", works: span{50e-6, 2e-3}, build: (*draft).steadily},
	{name: "seldom", rates: span{0.2, 5}, build: (*draft).steadily},
	{name: "large", sizes: span{1000, 10_000}, build: (*draft).large},
	{name: "unbounded", sizes: span{1, 3000}, build: (*draft).unbounded},
	{name: "tail", build: (*draft).tailed},
	{name: "delay", sizes: span{1, 1000}, build: (*draft).delayed},
	{name: "speed", sizes: span{1, 1000}, build: (*draft).slowed},
	{name: "killed", sizes: span{1, 1000}, build: (*draft).killed},
	{name: "errors", sizes: span{1, 1000}, build: (*draft).failing},
	{name: "slow-clients", sizes: span{1, 1000}, build: (*draft).slowClients},
	{name: "timeouts", sizes: span{1, 1000}, build: (*draft).timeouts},
	{name: "retries", sizes: span{1, 1000}, build: (*draft).retries},
	{name: "replicas", sizes: span{10, 1000}, build: (*draft).replicas},
	{name: "weights", sizes: span{10, 1000}, build: (*draft).weights},
}

// load returns a load below or above the capacity of the server.
func (d *draft) load() float64 { return d.from(0.2, 1.6) }

func (d *draft) steadily() {
	d.phase(d.load(), nil)
	d.phase(d.load(), nil)
}

// large has one phase only, because it has many requests.
func (d *draft) large() {
	d.shortest = 10
	d.phase(d.load(), nil)
}

// fanout draws batches of 2 to 200 requests, evenly spaced or not. A server with a knee has room
// for at least one batch.
func (d *draft) fanout() {
	size, duty := math.Round(d.from(2, 200)), d.from(0.01, 0.6)
	if d.N(2) == 0 {
		d.scenario.Server = sim.Unbounded{}
		d.size = mul(2, size)
	} else {
		d.serve(math.Round(mul(size, d.from(1, 10))))
	}
	for size/d.mean > usualRates.high {
		d.mean *= 2
	}
	for mul(size, duty)/d.mean < usualRates.low {
		d.mean /= 2
	}
	d.scenario.Work = d.anyWork()
	d.scenario.SLO = seconds(mul(d.mean, d.from(4, 20)))
	batches := duty / d.mean
	d.rate, d.most, d.lasting = mul(batches, size), size, 20/batches
	d.scenario.Arrivals = sim.Batches{Rate: significant(batches), Size: int(size), Periodic: d.N(3) > 0}
	d.phase(1, nil)
	d.phase(d.from(0.3, 1), nil)
}

// bursts draws batches in a Poisson process, or a rate that alternates between two values.
func (d *draft) bursts() {
	d.budget *= 0.6
	if d.N(2) == 0 {
		d.most = math.Round(d.from(2, 200))
		d.scenario.Arrivals = sim.Batches{Rate: significant(d.rate / d.most), Size: int(d.most)}
	} else {
		factor := d.from(2, 50)
		calm := mul(d.mean, d.from(1, 10))
		burst := mul(d.mean, d.from(0.5, 5))
		d.scenario.Arrivals = burstsOf(d.rate, significant(factor), max(0.001, calm), max(0.001, burst))
		d.most = d.size
	}
	d.phase(d.from(0.05, 0.8), nil)
	d.phase(d.from(0.05, 1.2), nil)
}

func burstsOf(rate, factor, calm, burst float64) sim.Bursts {
	mean := (calm + mul(factor, burst)) / (calm + burst)
	return sim.Bursts{Rate: significant(rate / mean), Factor: factor, Calm: seconds(calm), Burst: seconds(burst)}
}

// onOff draws arrivals that come in 1 to 60% of the time only.
func (d *draft) onOff() {
	duty := d.from(0.01, 0.6)
	cycle := max(0.1, mul(d.mean, d.from(2, 25)))
	on := max(0.001, mul(cycle, duty))
	d.scenario.Arrivals = sim.OnOff{Rate: significant(d.rate), On: seconds(on), Off: seconds(max(0.001, cycle-on))}
	d.rate = mul(d.rate, on/cycle)
	d.most = d.size
	d.phase(d.from(0.3, 1.5), nil)
	d.phase(d.from(0.3, 1.5), nil)
}

// sparsely draws a phase of few requests and a phase of load, and both phases once more.
func (d *draft) sparsely() {
	for range 2 {
		d.phase(1, nil)
		d.sparse[len(d.sparse)-1] = 4 + d.N(27)
		d.phase(d.from(0.5, 1.5), nil)
	}
}

func (d *draft) unbounded() {
	d.scenario.Server = sim.Unbounded{}
	d.steadily()
}

// tailed draws work with an infinite variance, or with a barely finite one.
func (d *draft) tailed() {
	d.scenario.Work = sim.Pareto{Mean: seconds(d.mean), Alpha: rounded(d.from(1.1, 2.5))}
	d.steadily()
}

// faulty draws a phase with a fault between two phases without it.
func (d *draft) faulty(fault func(*sim.Phase)) {
	load := d.from(0.3, 1.3)
	d.phase(load, nil)
	d.phase(load, fault)
	d.phase(load, func(p *sim.Phase) { p.Name = "after it" })
}

func (d *draft) delayed() {
	delay := mul(d.mean, d.from(0.5, 5))
	d.scenario.SLO = max(d.scenario.SLO, seconds(mul(2, d.mean+delay)))
	d.faulty(func(p *sim.Phase) { p.Name, p.Delay = "delay", seconds(delay) })
}

func (d *draft) slowed() {
	d.faulty(func(p *sim.Phase) {
		if left := rounded(d.from(0.2, 0.8)); d.N(2) == 0 {
			p.Name, p.Speed = "slow", left
		} else {
			p.Name, p.Workers = "workers lost", left
		}
	})
}

func (d *draft) killed() {
	d.faulty(func(p *sim.Phase) { p.Name, p.Down, p.ErrorTime = "down", true, seconds(d.from(10e-6, 10e-3)) })
}

func (d *draft) failing() {
	d.faulty(func(p *sim.Phase) {
		p.Name, p.Errors, p.ErrorTime = "errors", 1, seconds(d.from(10e-6, 1e-3))
		if d.N(2) == 0 {
			p.Errors = rounded(d.from(0.2, 1))
		}
	})
}

// slowClients draws clients that read slowly beside quick ones.
func (d *draft) slowClients() {
	share, slow := rounded(d.from(0.1, 1)), mul(d.mean, d.from(0.5, 5))
	d.slow = mul(share, slow)
	slowly := d.scenario.Clients[0]
	slowly.Name, slowly.Slow, slowly.Share = "slow", seconds(slow), share
	slowly.SLO = d.scenario.SLO + seconds(slow)
	d.scenario.Clients[0].Name, d.scenario.Clients[0].Share = "quick", max(0.001, rounded(1-share))
	d.scenario.Clients = append(d.scenario.Clients, slowly)
	d.steadily()
}

// timeouts draws clients that report late answers as timeouts.
func (d *draft) timeouts() {
	d.scenario.Clients[0].TimeoutAtSLO = true
	d.scenario.SLO = max(time.Millisecond, seconds(mul(d.mean, d.from(2.5, 8))))
	d.phase(d.from(0.6, 1.2), nil)
	d.phase(d.from(0.8, 1.6), nil)
}

// retries draws retries that honor the Retry-After of a refusal, or ignore it.
func (d *draft) retries() {
	d.budget *= 0.5
	d.scenario.Clients[0].Retry = sim.Retry{Times: 1 + d.N(5), Backoff: d.backoff(), Heed: d.N(2) == 0}
	d.phase(d.from(0.5, 1), nil)
	d.phase(d.from(1, 2), nil)
	d.phase(d.from(0.4, 0.9), nil)
}

// replicas draws up to 64 limiters, with clocks up to half a second apart; in a third of the
// systems one limiter has a fixed limit.
func (d *draft) replicas() {
	d.steadily()
	skew := d.from(0.001, 0.5)
	// The limiters start within the start and half of the first phase. The lengths of both are set
	// later. They are never shorter than here, unless the budget cuts the phase.
	within := seconds(max(10, 30*d.mean) + max(2.5, 10*d.mean))
	d.replicate(&d.scenario, replicas{most: min(64, d.size), within: within, skew: seconds(skew), unequal: 8})
	if d.N(3) == 0 {
		d.neighbour(&d.scenario, 2, 40)
	}
}

// weights draws requests of 1 and of up to 20 jobs.
func (d *draft) weights() {
	weight, share := 2+d.N(int(min(19, (d.size-2)/2))), rounded(d.from(0.05, 0.5))
	heavy := d.scenario.Clients[0]
	heavy.Name, heavy.Weight, heavy.Share = "heavy", weight, share
	d.scenario.Clients[0].Name, d.scenario.Clients[0].Share = "light", rounded(1-share)
	d.scenario.Clients = append(d.scenario.Clients, heavy)
	d.weight = 1 - share + mul(share, float64(weight))
	d.rate = d.capacity / d.weight
	d.most = float64(weight)
	d.scenario.Arrivals = sim.Poisson{Rate: significant(d.rate)}
	d.steadily()
}
