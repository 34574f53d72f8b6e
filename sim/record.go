package sim

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/law"
)

// binned is the resolution of goodput and refusals over time, for convergence and false
// refusals.
const binned = 100 * time.Millisecond

// mostBins is the maximum number of bins. Two hours of bins take a megabyte, and an oracle keeps
// forty runs. Longer scenarios have wider bins.
const mostBins = 1 << 16

// binWidth returns the width of the bins, a multiple of [binned].
func binWidth(end time.Duration) time.Duration {
	times := int64(end-1)/int64(mostBins*binned) + 1
	return time.Duration(max(1, times)) * binned
}

type record struct {
	phases []phaseRecord
	now    *phaseRecord
	phase  int // its index

	inflight int
	flowed   time.Duration // time up to which work in flight is booked
	limits   []int         // of each limiter
	probing  []bool        // whether the law lowered the limit to measure without load
	probed   int           // refusals under such limits
	booked   time.Duration // time up to which the limits are booked
	total    int           // sum of the limits

	bins   []bin
	width  time.Duration // of each
	binned time.Duration // end of the current bin

	sample  time.Duration
	series  []Point       // nil if not wanted; then changes is not kept
	changes []Change      // of the limits
	sampled time.Duration // time of the next point
	recent  Histogram     // of the point's latencies
	before  Tally         // of all phases, at the last point
}

// A bin counts the attempts that ended within its width. lost counts refused, late and cancelled
// attempts.
type bin struct{ good, refused, lost uint32 }

type phaseRecord struct {
	PhaseResult               // its sums and means are set at the end, from the other fields
	tallies     []Tally       // of each kind of clients at each limiter, by kind
	settled     time.Duration // the middle of the phase, from which the limit is measured
	area        time.Duration // work in flight times time

	limitTime, limitArea, limitSquares float64
}

func newRecord(s *Scenario, end time.Duration, limits []int) record {
	width := binWidth(end)
	r := record{
		phases: make([]phaseRecord, len(s.Phases)),
		bins:   make([]bin, 1, end/width+1),
		width:  width,
		binned: width,
		sample: s.Sample, sampled: s.Sample, limits: limits, probing: make([]bool, len(limits)),
	}
	for _, limit := range limits {
		r.total += limit
	}
	start := time.Duration(0)
	for i, p := range s.Phases {
		r.phases[i].tallies = make([]Tally, len(s.Clients)*len(limits))
		r.phases[i].PhaseResult = PhaseResult{Name: p.Name, Start: start, Length: p.Length}
		r.phases[i].settled = start + p.Length/2
		start += p.Length
	}
	r.now = &r.phases[0]
	return r
}

func (r *record) begin(phase int, now time.Duration) {
	r.flow(now, 0)
	r.book(now)
	r.now, r.phase = &r.phases[phase], phase
}

// book adds the limit since the last call to the sums of the phase, weighted by time.
func (r *record) book(now time.Duration) {
	if passed := float64(now - max(r.booked, r.now.settled)); passed > 0 {
		limit := float64(r.total) / float64(len(r.limits))
		r.now.limitTime += passed
		r.now.limitArea += mul(passed, limit)
		r.now.limitSquares += mul(passed, mul(limit, limit))
	}
	r.booked = now
}

// flow records that work begins or ends.
func (r *record) flow(now time.Duration, change int) {
	r.now.area += time.Duration(r.inflight) * (now - r.flowed)
	r.flowed = now
	r.inflight += change
}

func (r *record) limit(now time.Duration, limiter int32, c *admit.Change) {
	r.book(now)
	r.total += c.To - r.limits[limiter]
	r.limits[limiter] = c.To
	r.probing[limiter] = c.Reason.Code == law.Probing
	if r.series != nil {
		r.changes = append(r.changes, Change{At: now, Limiter: int(limiter), From: c.From, To: c.To, Reason: c.Reason})
	}
}

// of returns the tally of a request's kind of clients at its limiter in this phase.
func (r *record) of(q *request) *Tally {
	return &r.now.tallies[int(q.client)*len(r.limits)+int(q.limiter)]
}

// came returns the phase in which a request came.
func (r *record) came(q *request) *phaseRecord {
	i := r.phase
	for q.at < r.phases[i].Start {
		i--
	}
	return &r.phases[i]
}

func (r *record) good(q *request, latency time.Duration) {
	r.of(q).Good++
	r.came(q).Answered++
	r.bins[len(r.bins)-1].good++
	r.latency(latency)
}

func (r *record) late(q *request, latency time.Duration) {
	r.of(q).Late++
	r.bins[len(r.bins)-1].lost++
	r.latency(latency)
}

func (r *record) cancelled(q *request) {
	r.of(q).Cancelled++
	r.bins[len(r.bins)-1].lost++
}

func (r *record) latency(d time.Duration) {
	r.now.Latency.add(d)
	if r.series != nil {
		r.recent.add(d)
	}
}

func (r *record) refused(q *request) {
	r.of(q).Refused++
	if r.probing[q.limiter] {
		r.probed++
	}
	bin := &r.bins[len(r.bins)-1]
	bin.refused++
	bin.lost++
}

// until closes the bins and points that end by now.
func (r *record) until(e *engine, now time.Duration) {
	for now >= r.binned {
		r.bins = append(r.bins, bin{})
		r.binned += r.width
	}
	for r.series != nil && now >= r.sampled {
		r.closePoint(e)
	}
}

func (r *record) closePoint(e *engine) {
	sum := r.tally()
	seconds := r.sample.Seconds()
	p := Point{
		At: r.sampled, Limit: r.total, InFlight: r.inflight,
		Arrived:    float64(sum.Attempts-r.before.Attempts) / seconds,
		Throughput: float64(r.recent.count) / seconds,
		Good:       float64(sum.Good-r.before.Good) / seconds,
		Refused:    float64(sum.Refused-r.before.Refused) / seconds,
		P95:        r.recent.Quantile(0.95),
		P99:        r.recent.Quantile(0.99),
	}
	for _, n := range e.nodes {
		p.Queued += n.State(int64(r.sampled)).Queued
	}
	r.series = append(r.series, p)
	r.before = sum
	r.recent.clear()
	r.sampled += r.sample
}

// tally adds up all phases.
func (r *record) tally() (sum Tally) {
	for i := range r.phases {
		sum.add(r.phases[i].tally())
	}
	return sum
}

// tally adds up all kinds of clients.
func (p *phaseRecord) tally() (sum Tally) {
	for _, t := range p.tallies {
		sum.add(t)
	}
	return sum
}

// parts adds up the tallies of each kind of clients, and of each limiter.
func (p *phaseRecord) parts(limiters int) (ofClients, ofLimiters []Tally) {
	ofClients, ofLimiters = make([]Tally, len(p.tallies)/limiters), make([]Tally, limiters)
	for i, t := range p.tallies {
		ofClients[i/limiters].add(t)
		ofLimiters[i%limiters].add(t)
	}
	return ofClients, ofLimiters
}

// goodAt counts the good answers at each limiter.
func (p *phaseRecord) goodAt(limiters int) (good []int) {
	_, tallies := p.parts(limiters)
	for _, t := range tallies {
		good = append(good, t.Good)
	}
	return good
}

// limitMean returns the mean of the limit over the settled half of the phase, and its
// coefficient of variation.
func (p *phaseRecord) limitMean() (mean, cv float64) {
	if p.limitArea == 0 {
		return 0, 0
	}
	mean = p.limitArea / p.limitTime
	variance := p.limitSquares/p.limitTime - mul(mean, mean)
	return mean, math.Sqrt(max(0, variance)) / mean
}
