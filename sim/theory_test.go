package sim

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

const ms = time.Millisecond

// unlimited is a limiter that admits everything.
var unlimited = Limiter{Law: law.Fixed{}, Max: 1e9, Initial: 1e9}

// queueOf returns a server without a limiter under Poisson arrivals, for a million requests.
func queueOf(server Server, work Work, rate float64) Scenario {
	return Scenario{
		Name: "theory", Server: server, Work: work, Arrivals: Poisson{Rate: rate}, SLO: time.Hour, Limiter: unlimited,
		Phases: []Phase{{Length: time.Duration(1e6 / rate * 1e9)}},
	}
}

// erlangC returns the probability that work has to wait for one of c workers under load a.
func erlangC(c int, a float64) float64 {
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	last := term * float64(c) / (float64(c) - a)
	return last / (sum + last)
}

// sojourn is a quantile of the latency in M/M/c with arrival rate l and service rate m of a
// worker: the sum of an exponential service and a wait that is 0 or, with probability C,
// exponential with rate t = cm - l.
func sojourn(q float64, c int, l, m float64) float64 {
	wait, t := erlangC(c, l/m), float64(c)*m-l
	low, high := 0.0, 100/m
	for range 60 {
		x := (low + high) / 2
		longer := (1-wait)*math.Exp(-m*x) + wait*(t*math.Exp(-m*x)-m*math.Exp(-t*x))/(t-m)
		if longer > 1-q {
			low = x
		} else {
			high = x
		}
	}
	return low
}

// TestQueueingTheory compares means and quantiles of the latency with closed forms.
func TestQueueingTheory(t *testing.T) {
	const s = 0.01 // mean work in seconds
	exponential, constant := Exponential{Mean: 10 * ms}, Constant{Mean: 10 * ms}
	tests := []struct {
		name      string
		scenario  Scenario
		mean      float64
		quantiles map[float64]float64
	}{{
		// Kleinrock, volume 1: sojourn in M/M/1 is exponential.
		"M/M/1 at 0.7", queueOf(WorkerPool{Workers: 1}, exponential, 70), s / 0.3,
		map[float64]float64{0.5: math.Ln2 * s / 0.3, 0.9: math.Log(10) * s / 0.3, 0.99: math.Log(100) * s / 0.3},
	}, {
		"M/M/10 at 0.8", queueOf(WorkerPool{Workers: 10}, exponential, 800), s + erlangC(10, 8)*s/2,
		map[float64]float64{
			0.5: sojourn(0.5, 10, 800, 100), 0.9: sojourn(0.9, 10, 800, 100),
			0.99: sojourn(0.99, 10, 800, 100),
		},
	}, {
		// Pollaczek and Khinchine: wait rho s (1+cv²) / 2(1-rho).
		"M/D/1 at 0.7", queueOf(WorkerPool{Workers: 1}, constant, 70), s + 0.7*s/0.6, nil,
	}, {
		"M/G/1 at 0.5, lognormal", queueOf(WorkerPool{Workers: 1}, Lognormal{Mean: 10 * ms, CV: 1.5}, 50),
		s + 0.5*s*(1+1.5*1.5)/(2*0.5), nil,
	}, {
		"M/G/1 at 0.6, bimodal", queueOf(WorkerPool{Workers: 1}, Bimodal{Fast: 5 * ms, Slow: 30 * ms, Share: 0.2}, 60),
		s + 60*(0.8*25e-6+0.2*900e-6)/(2*0.4), nil,
	}, {
		// Processor sharing depends on the mean of the work only.
		"M/M/1-PS at 0.7", queueOf(Sharing{Cores: 1}, exponential, 70), s / 0.3, nil,
	}, {
		"M/D/1-PS at 0.7", queueOf(Sharing{Cores: 1}, constant, 70), s / 0.3, nil,
	}, {
		"M/G/1-PS at 0.7", queueOf(Sharing{Cores: 1}, Lognormal{Mean: 10 * ms, CV: 2}, 70), s / 0.3, nil,
	}, {
		// With c cores it is the M/M/c of the same load, in distribution of
		// the number of jobs and so, by Little, in the mean.
		"M/D/10-PS at 0.8", queueOf(Sharing{Cores: 10}, constant, 800), s + erlangC(10, 8)*s/2, nil,
	}, {
		// M/D/∞: no job is in another's way.
		"M/D/∞", queueOf(WorkerPool{Workers: 1000}, constant, 800), s, map[float64]float64{0.01: s, 0.99: s},
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := must.Have(Run(test.scenario, nil, 1))(t)
			within(t, "mean", r.Latency.Mean().Seconds(), test.mean)
			for q, want := range test.quantiles {
				within(t, "quantile", r.Latency.Quantile(q).Seconds(), want)
			}
		})
	}
}

func within(t *testing.T, what string, got, want float64) {
	t.Helper()
	off := 100 * (got/want - 1)
	t.Logf("%s %.5g, in theory %.5g: %+.2f%%", what, got, want, off)
	if math.Abs(off) > 2 {
		t.Errorf("%s %.5g, in theory %.5g: off by %+.2f%%", what, got, want, off)
	}
}

func TestSweptLimits(t *testing.T) {
	for _, highest := range []int{1, 2, 30, 39, 40, 41, 100, 1000, 1e6} {
		limits := limitsUpTo(highest)
		if len(limits) > sweepLimits || len(limits) < min(highest, sweepLimits) || limits[0] != 1 ||
			limits[len(limits)-1] != highest {
			t.Errorf("up to %d: %d limits, %v", highest, len(limits), limits)
		}
		if !slices.IsSorted(limits) || len(slices.Compact(slices.Clone(limits))) != len(limits) {
			t.Errorf("up to %d: %v", highest, limits)
		}
	}
}

// TestOracle checks a server whose throughput never falls with concurrency, so that the best
// result is known.
func TestOracle(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.Phases = []Phase{{Length: 3 * time.Second}, {Length: 3 * time.Second, Workers: 0.3}}
	})
	o := must.Have(Sweep(s, 1))(t)
	for i, p := range o.Phases {
		workers := []int{10, 3}[i]
		if p.Smallest < workers || p.Smallest > workers+2 || p.Limit < p.Smallest ||
			math.Abs(float64(p.Good)/float64(300*workers)-1) > 0.02 {
			t.Errorf("phase %d: %+v", i, p)
		}
	}
}

func TestKeptOracle(t *testing.T) {
	s := steady(1500, func(s *Scenario) {
		s.Phases = []Phase{
			{Length: 2 * time.Second}, {Length: time.Second, Workers: 0.3},
		}
	})
	o := must.Have(Sweep(s, 1))(t)
	data := must.Have(json.Marshal(o))(t)
	var kept Oracle
	if err := json.Unmarshal(data, &kept); err != nil || !reflect.DeepEqual(&kept, o) {
		t.Errorf("%v, or not what was written", err)
	}
	for _, bad := range [][]byte{nil, data[:len(data)/2], []byte("{}")} {
		if err := json.Unmarshal(bad, &kept); err == nil {
			t.Errorf("read %d bytes that are no oracle", len(bad))
		}
	}
}

func TestSweepOnManyProcessors(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.Phases = []Phase{
			{Length: time.Second}, {Length: time.Second, Workers: 0.3},
		}
	})
	one := must.Have(Sweep(s, 1))(t)
	for _, processors := range []int{2, 100} {
		if many, err := SweepOn(processors, s, 1); err != nil || !reflect.DeepEqual(many, one) {
			t.Errorf("on %d processors: %+v, want %+v: %v", processors, many, one, err)
		}
	}
	s.SLO = -1
	_, want := Sweep(s, 1)
	if _, err := SweepOn(3, s, 1); err == nil || err.Error() != want.Error() {
		t.Errorf("of a bad scenario: %v, want %v", err, want)
	}
}
