package law

import "time"

// Elastic looks for the knee: the work in flight past which more of it buys latency and
// no throughput. It needs no target, and remembers no smallest latency that could be
// out of date or was measured inside an overload.
//
// # The idea
//
// From window to window the limit moves a little. If throughput X follows work in flight
// N, the server has room; if it does not, work queues. That is the elasticity
//
//	e = dlnX / dlnN
//
// 1 below the knee, 0 above it, negative where a server thrashes. Elastic goes to where
// it is 0.1. Slower work lowers X at any N alike and leaves e as it is, so that alone
// refuses nothing: only a queue does.
//
// # Estimation
//
// One window says little, so Elastic keeps a probability for each of 258 hypotheses: a knee
// K, on a grid of tenths of ln K that moves with the limit, and one of three shapes f of
//
//	ln X = ln C + ln f(N/K)    sharp  u (1+u^6)^(-1/6)     a pool
//	                           soft   u (1+u^2)^(-1/2)     contention
//	                           folded u / (1+u/2+u^2)      past its peak it falls
//
// The capacity C follows for each in closed form (a normal posterior with a flat
// prior). Each window is weighted by its samples and its variation, and counts for
// the next 50. Its variance is taken to be (0.1+cv²)/samples + 0.1².
//
// The concurrency N of a window is what each piece of work ran among ([Window].Crowd), not the
// mean over time, which a burst leaves far below the limit.
//
// Page's sums of the deviations from what was predicted tell when the curve has changed;
// one odd window is a pause and is dropped. After a change the prior is a mixture: the same
// knee (speed), the same latency (workers), the same capacity (a delay).
//
// # Control
//
// The limit goes to the N that maximizes
//
//	J(N) = E[ln f(N/K)] - 0.1 ln N
//
// and swings around it as widely as the knee is uncertain, 3% at least. Every 5 to 20
// windows there is a probe: upwards by 40%, because at the knee capacity that came back shows
// in nothing else; or downwards, up to half where a knee could be far below, because
// small moves high above it cannot tell where. When latency triples, one cut tells slower
// work (throughput falls with it) from a queue (it does not).
//
// No step leaves less than half of the concurrency that ran, and windows far below the limit never
// lower it. Where the limit is not reached there is nothing to learn: it keeps two to three
// times the work in flight, unless latency doubled and that is past the server's own
// peak. Where nothing succeeds, work that hangs halves the limit until something does; then
// the limit is what it was. Work that fails at once leaves it alone.
//
// A little work may hold slots for a thousand times as long as the rest takes. If the work that
// begins and ends in a window is as quick as while the limit was not reached, the limit never
// falls, and rises by a tenth if it was reached.
//
// # Time
//
// Windows, settling and patience are in units of the latency and of the rate at which work ends.
// The unit is the least latency that was seen, which fades. The few constants in seconds bound the
// cost of deciding where work is quick.
//
// # Replicas
//
// Several limiters on one server see throughput follow their own share of a queue that all of them
// fill. Elastic finds out by ebbs: at ticks of the wall clock, [Window].Closed, a limiter that
// reached its limit lowers it for a few latencies, and so do the others, if there are any. If the
// latency falls with it there was a queue, and a ceiling holds the latency near 1.2 to 3 times that
// of the ebb. At some ticks a limiter keeps its limit and listens. One that never hears the latency
// dip is alone, drops its ceiling and ebbs no more. Clocks that are 20 ms apart cost nothing. Eight
// replicas whose clocks are spread over 100 ms lose 1 point of goodput in the mean of ten seeds and
// 7 at worst, over 500 ms 3 and 21 (limiter_skew in the scenario "8clients").
//
// # The budget
//
// Budget is optional and adds ln P(latency <= Budget) to J, latency by Little's law
// N/X(N) and, around that mean, Weibull with the variation that was measured. So
// it bounds the limit softly: work that cannot be in time at any limit does not take the
// limit to nothing.
//
// # When it fails
//
//   - A few requests in flight at a few a second: an ebb or a probe takes minutes, and
//     so does a change. Set Budget, or Replicas: 1 if the limiter is alone.
//   - A start inside an overload that has stopped the server, such as six limiters at 20 before a
//     server that thrashes beyond ten: hardly anything completes, so there is hardly
//     anything to learn from. Set Initial to what one replica may do.
//   - Deadlines near the latency without load: it cannot know that a little queue is
//     too much. Set Budget.
//   - Work of very different length near the capacity: where 1% takes 5 s and the rest 5 ms, at 0.77
//     of what the workers can do, one seed of four kept 74% of the goodput, and at 0.99 one kept 14%.
//     Give long work a limiter of its own.
//   - Bursts minutes apart: the limit doubles from one to the next, and no faster.
//   - Neighbours with limiters of another kind do not ebb: it gets less than its share.
//   - It is never still: the coefficient of variation of its limit is 0.17 to 0.19.
//
// The figures behind each are in docs/control.md.
//
// # Cost
//
// 80 bytes, and 768 more from the moment the limit is first reached. A decision takes 25 µs of a
// processor, with a budget 38 (BenchmarkElastic), and there are at most 50 a second.
//
// # Sources
//
// E. S. Page: Continuous Inspection Schemes, 1954. J. Little: A Proof for the Queuing Formula
// L = λW, 1961. A. Feldbaum: dual control, 1960, for moves that also inform. The posterior
// over curves, the mixture after a change, the probes and the ebbs are our own.
type Elastic struct {
	// Budget is how long work may take from its start, not counting a wait in
	// the limiter's queue. 0 means that it is not known.
	Budget time.Duration

	// Replicas is how many limiters stand before the server, this one included: 1
	// to 10,000. It then need not find out whether there are others. 0 means that it is
	// not known.
	Replicas int
}

// Controller starts the law. A setting out of range is an error that matches
// [ErrConfig]. The Controller is also a [Retuner].
func (l Elastic) Controller(Bounds) (Controller, error) {
	complete, err := l.complete()
	if err != nil {
		return nil, err
	}
	return &elasticController{Elastic: complete, planned: keep(afresh)}, nil
}

// String returns "elastic" or, for example, "elastic(budget=300ms)". [Parse]
// reads both, and "elastic(300ms)".
func (l Elastic) String() string { return l.form().String() }

func (l *Elastic) form() form {
	return form{name: "elastic", bare: true, settings: []setting{
		{"budget", number[time.Duration]{field: &l.Budget, unset: "none"}},
		{"replicas", number[int]{field: &l.Replicas, unset: "an unknown number", atMost: 10_000}},
	}}
}

func (l Elastic) complete() (Elastic, error) {
	err := l.form().complete()
	return l, err
}
