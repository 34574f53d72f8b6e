package peers

import (
	"math"
	"slices"
	"time"

	"github.com/weir-go/weir/sim"
)

// binned is how finely goodput and refusals are kept over time.
const binned = 100 * time.Millisecond

// A result is what a loop writes down.
type result struct {
	attempts, refusals, late, failed, cancels int

	phases []phase
	now    *phase
	bins   []bin
	ends   time.Duration // of the bin

	limit  float64 // mean of the gates'
	booked time.Duration
}

type bin struct{ good, refused, lost int }

type phase struct {
	good                int
	latencies           []time.Duration
	start, settled, end time.Duration

	limitTime, limitArea, limitSquares float64
}

func newResult(s sim.Scenario, gates []gate) *result {
	r := &result{phases: make([]phase, len(s.Phases)), bins: make([]bin, 1), ends: binned}
	start := time.Duration(0)
	for i, p := range s.Phases {
		r.phases[i] = phase{start: start, settled: start + p.Length/2, end: start + p.Length}
		start += p.Length
	}
	r.now = &r.phases[0]
	r.limited(0, gates)
	return r
}

func (r *result) begin(phase int, now time.Duration) {
	r.book(now)
	r.now = &r.phases[phase]
}

// limited notes what the limits are after something happened.
func (r *result) limited(now time.Duration, gates []gate) {
	sum := 0
	for _, g := range gates {
		sum += g.limit()
	}
	if limit := float64(sum) / float64(len(gates)); limit != r.limit {
		r.book(now)
		r.limit = limit
	}
}

// book accounts for the limit since the last call.
func (r *result) book(now time.Duration) {
	if passed := float64(now - max(r.booked, r.now.settled)); passed > 0 {
		r.now.limitTime += passed
		r.now.limitArea += passed * r.limit
		r.now.limitSquares += passed * r.limit * r.limit
	}
	r.booked = now
}

func (r *result) until(now time.Duration) {
	for now >= r.ends {
		r.bins = append(r.bins, bin{})
		r.ends += binned
	}
}

func (r *result) answered(latency time.Duration, failed, late bool) {
	bin := &r.bins[len(r.bins)-1]
	switch {
	case failed:
		r.failed++
		return
	case late:
		r.late++
		bin.lost++
	default:
		r.now.good++
		bin.good++
	}
	r.now.latencies = append(r.now.latencies, latency)
}

func (r *result) refused() {
	r.refusals++
	r.bins[len(r.bins)-1].refused++
	r.bins[len(r.bins)-1].lost++
}

func (r *result) cancelled() {
	r.cancels++
	r.bins[len(r.bins)-1].lost++
}

func (r *result) good() (sum int) {
	for _, p := range r.phases {
		sum += p.good
	}
	return sum
}

func (r *result) p99() float64 {
	var all []time.Duration
	for _, p := range r.phases {
		all = append(all, p.latencies...)
	}
	return p99(all)
}

func p99(all []time.Duration) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return float64(all[int(math.Ceil(0.99*float64(len(all))))-1])
}

// An oracle is sim's, with what it has for itself.
type oracle struct {
	*sim.Oracle
	requests []request
	p99      float64
	bins     []bin
}

// sweep finds the oracle of a system.
func sweep(s sim.Scenario, seed uint64) (*oracle, error) {
	swept, err := sim.Sweep(s, seed)
	if err != nil {
		return nil, err
	}
	requests, err := record(complete(s), seed)
	if err != nil {
		return nil, err
	}
	o := &oracle{Oracle: swept, requests: requests}
	runs := map[int]*result{}
	at := func(limit int) *result {
		if runs[limit] == nil {
			// The scenario is good, or Sweep would have complained.
			runs[limit], _ = run(s, requests, seed, func(sim.Limiter, *processor) gate { return &constant{most: limit} }, nil)
		}
		return runs[limit]
	}
	var latencies []time.Duration
	for i, p := range swept.Phases {
		best := at(p.Limit)
		from := best.phases[i].start / binned
		o.bins = append(o.bins[:from], best.bins[from:]...)
		latencies = append(latencies, at(p.Smallest).phases[i].latencies...)
	}
	o.p99 = p99(latencies)
	return o, nil
}

// score holds a result against the oracle, by the definitions of sim.Score.
func (o *oracle) score(name string, r *result) sim.Score {
	s := sim.Score{
		Scenario: o.Scenario, Law: name, Seed: o.Seed, P99Ratio: ratio(r.p99(), o.p99),
		Refused: ratio(float64(r.refusals), float64(r.attempts)),
		Late:    ratio(float64(r.late), float64(r.good()+r.late)),
	}
	best, time := 0, 0.0
	for i, p := range o.Phases {
		own := &r.phases[i]
		s.Phases = append(s.Phases, percent(own.good, p.Good))
		s.Convergence = max(s.Convergence, o.converged(r, i).Seconds())
		best += p.Good
		if own.limitArea > 0 {
			mean := own.limitArea / own.limitTime
			variance := own.limitSquares/own.limitTime - mean*mean
			s.LimitMean += own.limitTime * mean
			s.LimitCV += own.limitTime * math.Sqrt(max(0, variance)) / mean
		}
		time += own.limitTime
	}
	s.LimitMean, s.LimitCV = ratio(s.LimitMean, time), ratio(s.LimitCV, time)
	s.Goodput = percent(r.good(), best)
	s.Uncapped = 100 * ratio(float64(r.good()), float64(best))
	s.FalseRefused = ratio(float64(o.falselyRefused(r)), float64(r.attempts))
	return s
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func percent(good, best int) float64 {
	if good >= best {
		return 100
	}
	return 100 * float64(good) / float64(best)
}

// converged is how long after its beginning a phase had 3 s with 90% of the oracle's
// goodput.
func (o *oracle) converged(r *result, phase int) time.Duration {
	p := &r.phases[phase]
	first, last := int((p.start+binned-1)/binned), int(p.end/binned)
	window := min(int(3*time.Second/binned), last-first)
	for from := first; from+window <= last; from++ {
		good, best := 0, 0
		for i := from; i < from+window; i++ {
			good += r.bins[i].good
			best += o.bins[i].good
		}
		if float64(good) >= 0.9*float64(best) {
			return time.Duration(from)*binned - p.start
		}
	}
	return p.end - p.start
}

// falselyRefused counts the refusals in the seconds in which the oracle lost at most 1%.
func (o *oracle) falselyRefused(r *result) (count int) {
	const second = int(time.Second / binned)
	for from := 0; from < len(r.bins); from += second {
		refused, good, lost := 0, 0, 0
		for i := from; i < min(from+second, len(r.bins)); i++ {
			refused += r.bins[i].refused
			good += o.bins[i].good
			lost += o.bins[i].lost
		}
		if float64(lost) <= 0.01*float64(good+lost) {
			count += refused
		}
	}
	return count
}
