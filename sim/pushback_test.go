package sim

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A refusing system has a server that refuses work.
type refusing struct {
	name     string
	scenario Scenario
	capacity float64       // maximum good answers after the start
	most     float64       // share of attempts that the server may refuse
	least    float64       // minimum, as a share of the capacity
	back     time.Duration // maximum time until the last phase has 90% of its mean load or capacity; 0 for any
}

// refusingServers returns APIs with a hidden limit, each after ten seconds to start.
func refusingServers() []refusing {
	const twenty = 400 // a second
	api := func(load float64, replicas int, phases ...Phase) Scenario {
		s := startsFor(10*time.Second, Scenario{
			Arrivals: Poisson{Rate: load}, Work: Exponential{Mean: 50 * ms}, Server: Unbounded{}, SLO: time.Second,
			Limiter: Limiter{Queue: Queue{Size: 1000, Timeout: 500 * ms, Adaptive: true}}, Limiters: replicas, Phases: phases,
		})
		s.Phases[0].Refuse = phases[0].Refuse
		return s
	}
	minute := func(r Refusals) Phase { return Phase{Length: time.Minute, Refuse: r} }
	grows := api(4*twenty, 1, Phase{Length: 30 * time.Second, Refuse: Refusals{Above: 20}}, minute(Refusals{Above: 40}))
	eight := api(2*8*twenty, 8, minute(Refusals{Above: 160}))
	unequal := eight
	unequal.LimiterShares = []float64{1, 1, 2, 2, 3, 3, 4, 4}
	rate := api(200, 1, minute(Refusals{Rate: 100}))
	rate.Work, rate.SLO = Exponential{Mean: 250 * ms}, 2*time.Second
	quota := api(twenty/2, 1, minute(Refusals{}))
	quota.Clients = []Client{{Share: 19}, {Share: 1, Over: true}}
	loaded := api(2*twenty, 1, minute(Refusals{}))
	loaded.Clients, loaded.Server = quota.Clients, WorkerPool{Workers: 20}
	later := api(2*twenty, 1, Phase{Length: 30 * time.Second, Refuse: Refusals{Above: 20}}, minute(Refusals{Share: 0.2}))
	outage := api(twenty/2, 1, Phase{Length: 30 * time.Second}, minute(Refusals{Share: 1}), Phase{Length: 30 * time.Second})
	named := api(twenty/2, 1, Phase{Length: 30 * time.Second}, minute(Refusals{Share: 1, RetryAfter: 10 * time.Second}), Phase{Length: 30 * time.Second})
	namedLimit := api(2*twenty, 1, minute(Refusals{Above: 20, RetryAfter: time.Second}))
	floods := api(21*twenty/2, 1, minute(Refusals{RetryAfter: 10 * time.Second}))
	floods.Clients, floods.Server = []Client{{}, {Share: 20, Over: true}}, WorkerPool{Workers: 20}
	quick := minute(Refusals{Above: 20})
	quick.ErrorTime = time.Microsecond
	var flips []Phase
	for i := range 60 {
		flips = append(flips, Phase{Length: time.Second, Refuse: Refusals{Share: float64(i % 2)}})
	}
	return []refusing{
		{"20 at once, 2x", api(2*twenty, 1, minute(Refusals{Above: 20})), 60 * twenty, 0.05, 0.98, 0},
		{"grows from 20 to 40, 4x and 2x", grows, 30*twenty + 60*2*twenty, 0.05, 0.97, 3 * time.Second},
		{"160 at once, eight limiters, 2x", eight, 60 * 8 * twenty, 0.06, 0.98, 0},
		{"20 at once, eight limiters, 2x", api(2*twenty, 8, minute(Refusals{Above: 20})), 60 * twenty, 0.08, 0.96, 0},
		{"eight limiters, unequal load", unequal, 60 * 8 * twenty, 0.08, 0.98, 0},
		{"100 a second, 2x", rate, 60 * 100, 0.10, 0.88, 0},
		{"a client over its quota, 0.5x", quota, 60 * twenty / 2 * 0.95, 1, 0.98, 0},
		{"a client over its quota, 2x", loaded, 60 * twenty, 1, 0.97, 0},
		{"20 at once, then a fifth of all, 2x", later, 30*twenty + 0.8*60*2*twenty, 1, 0.95, 0},
		{"a client that floods, all refused, others 0.5x", floods, 60 * twenty / 2, 1, 0.98, 0},
		{"one in a hundred, 0.5x", api(twenty/2, 1, minute(Refusals{Share: 0.01})), 60 * twenty / 2 * 0.99, 1, 0.98, 0},
		{"all for a minute, 0.5x", outage, 60 * twenty / 2, 1, 0.98, 3 * time.Second},
		{"all for a minute, 0.5x, to come back in 10 s", named, 60 * twenty / 2, 0.2, 0.98, 3 * time.Second},
		{"20 at once, 2x, refuses in a microsecond", api(2*twenty, 1, quick), 60 * twenty, 0.05, 0.96, 0},
		// A window over a flip looks like an overload that the last cut has cured.
		{"all in every other second, 0.5x", api(twenty/2, 1, flips...), 30 * twenty / 2, 1, 0.75, 0},
		{"20 at once, 2x, to come back in 1 s", namedLimit, 60 * twenty, 0.05, 0.98, 0},
	}
}

// TestPushback checks the goodput of the default law on servers that refuse work against
// their capacity, and the share that they refuse. In full it takes 30 seeds, and prints the
// results of other laws.
func TestPushback(t *testing.T) {
	laws, seeds := []law.Law{law.Setpoint{}}, uint64(1)
	if longtest.Full() {
		laws, seeds = append(laws, law.Setpoint{Without: "yield"}, law.Gradient{}, law.Little{}, law.Vegas{}, law.AIMD{}), 30
	}
	for _, r := range refusingServers() {
		for i, l := range laws {
			var share, good, back, jain float64
			for seed := range seeds {
				result := must.Have(Run(r.scenario, l, seed+1))(t)
				var sum Tally
				for _, p := range result.Phases[1:] {
					sum.add(p.Tally)
				}
				share += float64(sum.Pushed) / float64(sum.Attempts-sum.Refused-sum.Cancelled) / float64(seeds)
				good += float64(sum.Good) / r.capacity / float64(seeds)
				back += recovered(result).Seconds() / float64(seeds)
				jain += fairness(result) / float64(seeds)
			}
			t.Logf("%-32s %-24v refused %4.1f%%, goodput %5.1f%%, 90%% after %4.1f s, Jain %.3f", r.name, l, 100*share, 100*good, back, jain)
			if i == 0 && (share > r.most || good < r.least || r.back > 0 && back > r.back.Seconds()) {
				t.Errorf("%s: want at most %.0f%% refused, %.0f%% of the goodput, and 90%% after %v", r.name, 100*r.most, 100*r.least, r.back)
			}
		}
	}
}

// heard are the ways in which a limiter learns that an answer came too late.
var heard = map[string]Client{"the caller has left": {Leaves: true}, "a timeout": {TimeoutAtSLO: true}}

// Ten workers take half of the time that clients wait, and get twice their load. A limiter that
// learns which answers come too late finds the time that clients wait.
func TestLateAnswers(t *testing.T) {
	good := func(client Client) float64 {
		r := must.Have(Run(Scenario{
			Arrivals: Poisson{Rate: 40}, Work: Constant{Mean: 500 * ms}, Server: WorkerPool{Workers: 10}, SLO: time.Second,
			Clients: []Client{client},
			Limiter: Limiter{Queue: Queue{Size: 1000, Adaptive: true}},
			Phases:  []Phase{{Length: 5 * time.Second}, {Length: time.Minute}},
		}, law.Setpoint{}, 1))(t)
		return float64(r.Phases[1].Good) / (60 * 20)
	}
	if share := good(Client{}); share > 0.5 {
		t.Errorf("a limiter that does not learn of late answers has a goodput of %.2f of the capacity, want little", share)
	}
	for by, client := range heard {
		if share := good(client); share < 0.85 {
			t.Errorf("by %s: goodput %.2f of the capacity, want most", by, share)
		}
	}
}

// Clients that do not wait at all are no mark of an overload. They must not cost the others their
// share, with and without room for all.
func TestClientsThatDoNotWait(t *testing.T) {
	for _, c := range []struct{ load, share float64 }{{0.5, 0.3}, {0.9, 0.3}, {0.9, 0.7}, {1.2, 0.3}, {2, 0.3}} {
		good := func(seed uint64, client Client) float64 {
			others, impatient := client, client
			others.Share, impatient.Share, impatient.SLO = 1-c.share, c.share, ms
			r := must.Have(Run(Scenario{
				Arrivals: Poisson{Rate: c.load * 400}, Work: Exponential{Mean: 50 * ms},
				Server: WorkerPool{Workers: 20}, SLO: time.Second,
				Clients: []Client{others, impatient},
				Phases:  []Phase{{Length: time.Minute}},
			}, law.Setpoint{}, seed))(t)
			return float64(r.Clients[0].Good)
		}
		for seed := range uint64(5) {
			for by, client := range heard {
				if kept := good(seed, client) / good(seed, Client{}); kept < 0.93 {
					t.Errorf("load %.1f, %.1f do not wait, by %s, seed %d: the others keep %.3f of their goodput, want most", c.load, c.share, by, seed, kept)
				}
			}
		}
	}
}

// recovered returns the time in the last phase until a second has 90% of the mean goodput of
// its second half.
func recovered(r *Result) time.Duration {
	last := r.Phases[len(r.Phases)-1]
	mean := meanAfter(r, last.Start+last.Length/2, goodOf)
	for _, p := range r.Series {
		if p.At > last.Start && p.Good >= 0.9*mean {
			return p.At - last.Start
		}
	}
	return last.Length
}

// fairness returns Jain's index of the admitted requests of the limiters, in proportion to
// their demand.
func fairness(r *Result) float64 {
	sum, squares := 0.0, 0.0
	for _, l := range r.Limiters {
		x := float64(l.Good) / float64(l.Requests)
		sum, squares = sum+x, squares+x*x
	}
	return sum * sum / squares / float64(len(r.Limiters))
}
