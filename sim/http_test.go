package sim

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

var httpRounds = flag.Int("http", 0,
	"hold the simulator against real HTTP servers, in so many rounds, which take minutes each")

const (
	apart      = 5.0 // points of goodput: laws that differ by less may come in any order
	controlOff = 3.0 // percent by which the control may differ from its simulation
	shakes     = 15  // simulations of a seed
	bearable   = 720 // requests a second, of all servers at a time
	mostBehind = 0.1 // share of the SLO: if 1% of the requests are sent later than that, the run is useless
	attempts   = 3   // until a machine is considered too busy
)

// TestSameOrderOnHTTP checks that if the simulator separates two laws, the better one is
// better on a real HTTP server too. Each request comes at the same time, with the same work,
// as in the simulation. The test runs on the wall clock, so a flag has to enable it:
//
//	go test ./sim -run SameOrderOnHTTP -v -timeout 30m -http 3
//
// The result of a law that reacts to noise varies, even in the simulator if its requests
// come some milliseconds later. So each seed is simulated several times with such small
// delays, and the simulator's result is the median. It separates two laws if their medians
// differ, and if the worse one is worse with any delays. A law must also not be far from the
// range of its simulated results.
func TestSameOrderOnHTTP(t *testing.T) {
	compete(t, httpScenarios(), func(s Scenario) []string {
		return []string{
			"fixed(3)", "fixed(200)", "aimd", "gradient", "gradient2", "vegas", "little",
			fmt.Sprintf("pid(target=%v)", s.SLO/2), fmt.Sprintf("band(target=%v)", s.SLO/2),
			"setpoint", fmt.Sprintf("setpoint(%v)", s.SLO/2),
		}
	})
}

// compete runs a contest of laws for each scenario: each round runs all of them.
func compete(t *testing.T, scenarios []Scenario, laws func(Scenario) []string) {
	t.Helper()
	if *httpRounds == 0 {
		t.Skip("without -http")
	}
	var contests []*contest
	for _, s := range scenarios {
		contests = append(contests, newContest(t, s, laws(s)...))
	}
	for round := range *httpRounds {
		for _, c := range contests {
			c.serve(t, uint64(round+1))
		}
	}
	for _, c := range contests {
		c.judge(t)
	}
}

// httpScenarios returns scenarios small enough for two busy cores: 10 workers, 80 requests a
// second.
func httpScenarios() []Scenario {
	base := Scenario{
		Work: Exponential{Mean: 125 * ms}, Server: WorkerPool{Workers: 10},
		Limiter: Limiter{Interval: 250 * ms, Window: 2 * time.Second}, // the phases are short
	}
	overload, slow, delay := base, base, base
	overload.Name, overload.Arrivals, overload.SLO = "overload", Poisson{Rate: 120}, 750*ms
	overload.Limiter.Initial = 60 // in the midst of an overload
	overload.Phases = []Phase{{Length: 25 * time.Second}}
	slow.Name, slow.Arrivals, slow.SLO = "slow", Poisson{Rate: 70}, 1200*ms
	slow.Phases = []Phase{{Length: 8 * time.Second}, {Length: 12 * time.Second, Speed: 0.3}, {Length: 8 * time.Second}}
	delay.Name, delay.Arrivals, delay.SLO = "delay", Poisson{Rate: 110}, time.Second
	delay.Phases = []Phase{
		{Length: 8 * time.Second},
		{Length: 10 * time.Second, Delay: 250 * ms},
		{Length: 8 * time.Second},
	}
	return []Scenario{overload, slow, delay}
}

// A contest is a scenario and the laws that run in it. The first law is the control: the
// best constant limit for the whole scenario.
type contest struct {
	scenario Scenario
	together int // servers at a time
	rivals   []*rival
	control  []float64 // real good answers per simulated one, in percent, by round
}

// A rival is a law in a contest, and its goodput as a percentage of the control's.
type rival struct {
	law       law.Law
	simulated []float64 // median of the rounds, by shake
	real      []float64 // by round
}

func newContest(t *testing.T, s Scenario, laws ...string) *contest {
	t.Helper()
	c := &contest{scenario: s, together: max(1, int(bearable/perSecond(s)))}
	for _, text := range append([]string{fmt.Sprintf("fixed(%d)", bestConstant(t, s))}, laws...) {
		l := must.Have(law.Parse(text))(t)
		c.rivals = append(c.rivals, &rival{law: l})
	}
	for shake := range uint64(shakes) {
		rounds := make([][]float64, len(c.rivals))
		for round := range *httpRounds {
			seed := uint64(round + 1)
			control := goodWhenShaken(t, s, c.rivals[0].law, seed, shake)
			for i, r := range c.rivals {
				rounds[i] = append(rounds[i], 100*goodWhenShaken(t, s, r.law, seed, shake)/control)
			}
		}
		for i, r := range c.rivals {
			r.simulated = append(r.simulated, median(rounds[i]))
		}
	}
	return c
}

// perSecond returns the number of requests to a server per second.
func perSecond(s Scenario) float64 {
	if batches, ok := s.Arrivals.(Batches); ok {
		return batches.Rate * float64(batches.Size)
	}
	return s.Arrivals.(Poisson).Rate
}

// bestConstant returns the constant limit with the most good answers in all rounds.
func bestConstant(t *testing.T, s Scenario) (limit int) {
	t.Helper()
	best := 0.0
	for _, l := range limitsUpTo(100) {
		good := 0.0
		for round := range *httpRounds {
			good += float64(mustRun(t, s, law.Fixed{Limit: l}, uint64(round+1)).Good)
		}
		if good > best {
			best, limit = good, l
		}
	}
	return limit
}

// goodWhenShaken returns the good answers if each request comes a millisecond or two later.
func goodWhenShaken(t *testing.T, s Scenario, l law.Law, seed, shake uint64) float64 {
	t.Helper()
	complete := must.Have(s.complete())(t)
	late := NewRand(seed, 1000+shake)
	for _, r := range requestsOf(complete, seed) {
		s.Trace = append(s.Trace, Arrival{At: r.at + nanoseconds(mul(float64(ms), late.Exp())), Work: r.work})
	}
	slices.SortFunc(s.Trace, func(a, b Arrival) int { return cmp.Compare(a.At, b.At) })
	return float64(mustRun(t, s, l, seed).Good)
}

// serve runs every law on the limiter of a real server, a few servers at a time.
func (c *contest) serve(t *testing.T, seed uint64) {
	t.Helper()
	var goods []float64
	for group := range slices.Chunk(c.rivals, c.together) {
		for _, e := range c.open(t, group, seed) {
			goods = append(goods, float64(e.observed.good))
		}
	}
	for i, r := range c.rivals {
		r.real = append(r.real, 100*goods[i]/goods[0])
	}
	simulated := make([]float64, shakes)
	for shake := range simulated {
		simulated[shake] = goodWhenShaken(t, c.scenario, c.rivals[0].law, seed, uint64(shake))
	}
	c.control = append(c.control, 100*goods[0]/median(simulated))
}

// open runs one server for each of the laws, and retries if the machine was busy.
func (c *contest) open(t *testing.T, group []*rival, seed uint64) (sites []*site) {
	t.Helper()
	for range attempts {
		sites = nil
		for _, r := range group {
			sites = append(sites, openSite(t, c.scenario, r.law, seed))
		}
		start := time.Now().Add(100 * ms)
		var all sync.WaitGroup
		for _, e := range sites {
			all.Go(func() { e.run(t.Context(), start) })
		}
		all.Wait()
		var behind time.Duration
		for _, e := range sites {
			behind = max(behind, e.observed.behind.Quantile(0.99))
			if e.observed.other > 0 {
				t.Errorf("%s: %d answers that are neither work nor a refusal", c.scenario.Name, e.observed.other)
			}
		}
		t.Logf("%s, seed %d: p99 of the clients' lag is %v", c.scenario.Name, seed, behind.Round(ms))
		if behind.Seconds() <= mostBehind*c.scenario.SLO.Seconds() {
			return sites
		}
	}
	t.Fatalf("%s: the machine is too busy: the clients lagged in %d attempts", c.scenario.Name, attempts)
	return nil
}

// judge prints the table and reports the differences from the simulation.
func (c *contest) judge(t *testing.T) {
	t.Helper()
	slices.SortStableFunc(c.rivals, func(a, b *rival) int {
		return cmp.Compare(median(b.simulated), median(a.simulated))
	})
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "law\tsimulated\tshaken\treal\trounds")
	for _, r := range c.rivals {
		fmt.Fprintf(table, "%v\t%.1f\t%.1f to %.1f\t%.1f\t%.1f\n", r.law,
			median(r.simulated), slices.Min(r.simulated), slices.Max(r.simulated), median(r.real), r.real)
	}
	_ = table.Flush()
	t.Logf("%s: goodput in percent of the best constant limit's\n%s", c.scenario.Name, text.String())

	for _, r := range c.rivals {
		if goodput := median(r.real); goodput < slices.Min(r.simulated)-apart ||
			goodput > slices.Max(r.simulated)+apart {
			t.Errorf("%s: %v does %.1f, simulated %.1f to %.1f",
				c.scenario.Name, r.law, goodput, slices.Min(r.simulated), slices.Max(r.simulated))
		}
	}
	off := median(c.control)
	t.Logf("%s: that does %.1f%% of what is simulated (%.1f)", c.scenario.Name, off, c.control)
	if off < 100-controlOff || off > 100+controlOff {
		t.Errorf("%s: the control does %.1f%% of what is simulated, want 100 give or take %v",
			c.scenario.Name, off, controlOff)
	}
	c.order(t)
}

// order compares the laws, best first, by pairs.
func (c *contest) order(t *testing.T) {
	t.Helper()
	told, unsure, swapped := 0, 0, 0
	for i, better := range c.rivals {
		for _, worse := range c.rivals[i+1:] {
			if median(better.simulated)-median(worse.simulated) <= apart {
				continue
			}
			certain := slices.Min(better.simulated) > slices.Max(worse.simulated)
			if certain {
				told++
			} else {
				unsure++
			}
			if median(better.real) > median(worse.real) {
				continue
			}
			swap := fmt.Sprintf("%s: swapped: %v and %v: simulated %.1f and %.1f, real %.1f and %.1f",
				c.scenario.Name, better.law, worse.law,
				median(better.simulated), median(worse.simulated), median(better.real), median(worse.real))
			if !certain {
				t.Log(swap + ", as they are when shaken")
				continue
			}
			swapped++
			t.Error(swap)
		}
	}
	t.Logf("%s: of %d pairs that the simulator tells apart %d are swapped; %d more are %v points apart, but not however shaken",
		c.scenario.Name, told, swapped, unsure, apart)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
