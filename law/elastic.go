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
// One window says little, so what is kept is a probability for each of 258 hypotheses: a knee
// K, from 1 to 3600 in steps of a tenth, and one of three shapes f of
//
//	ln X = ln C + ln f(N/K)    sharp  u (1+u^6)^(-1/6)     a pool
//	                           soft   u (1+u^2)^(-1/2)     contention
//	                           folded u / (1+u/2+u^2)      past its peak it falls
//
// The capacity C is worked out of each in closed form (a normal posterior with a flat
// prior). Each window is weighted by its samples and its variation, and counts for
// the next 50. Its variance is taken to be (0.1+cv²)/samples + 0.1².
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
// in nothing else; or downwards, up to 55% where a knee could be far below, because
// small moves high above it cannot tell where. When latency triples, one cut tells slower
// work (throughput falls with it) from a queue (it does not).
//
// Where the limit is not reached there is nothing to learn; it keeps two to three times
// the work in flight, unless that is past the server's own peak.
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
//   - Several limiters on one server: each sees throughput follow its own share of a
//     queue that all of them fill. Set Budget, or let them share a limiter.
//   - Deadlines near the latency without load: it cannot know that a little queue is
//     too much. Set Budget.
//   - A few completions a second: windows take seconds, and so do changes.
//   - It is never still: the coefficient of variation of its limit is 0.17 to 0.19.
//
// Its windows are planned for work from 10 ms to some seconds. Settling is bounded to
// 10 ms and 1 s, a window's length to 20 ms and 3 s, and the peak of work in
// flight fades in 10 s; in all else it is unchanged by the unit of time.
//
// # Cost
//
// 16 bytes, and 2.2 KiB more from the moment the limit is first reached. A
// decision takes 30 to 44 µs, with a budget 48 to 62 (on a busy machine), and there are at most 50 a second.
//
// # Sources
//
// E. S. Page: Continuous Inspection Schemes, 1954. J. Little: A Proof for the Queuing Formula
// L = λW, 1961. A. Feldbaum: dual control, 1960, for moves that also inform. The posterior
// over curves, the mixture after a change and the probes are our own.
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
// [ErrInvalid]. The Controller is also a [Retuner].
func (l Elastic) Controller(Bounds) (Controller, error) {
	complete, err := l.complete()
	if err != nil {
		return nil, err
	}
	return &elasticController{Elastic: complete}, nil
}

// String returns "elastic" or, for example, "elastic(budget=300ms)". [Parse]
// reads both, and "elastic(300ms)".
func (l Elastic) String() string { return l.form().String() }

func (l *Elastic) form() form {
	return form{name: "elastic", bare: true, settings: []setting{
		{"budget", number[time.Duration]{field: &l.Budget}},
		{"replicas", number[int]{field: &l.Replicas, atMost: 10_000}},
	}}
}

func (l Elastic) complete() (Elastic, error) {
	err := l.form().complete()
	return l, err
}
