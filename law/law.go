package law

import (
	"math"
	"slices"
	"time"
)

// A Law is a rule that turns measurements into limits. It is a plain value: its
// fields are settings, its zero value works, and one Law may configure any
// number of limiters.
type Law interface {
	// Controller starts the law for one limiter. A setting out of range is
	// an error that names the field, the value and the allowed range.
	Controller(Bounds) (Controller, error)
}

// Start returns the initial limit if the configuration gives none. A law chooses it by a method
// Start() int; other laws start from 20.
func Start(l Law) int {
	if s, ok := l.(interface{ Start() int }); ok {
		return s.Start()
	}
	return usualLimit
}

// A Controller is a running [Law]: the state of one limiter. Its owner calls Next from one
// goroutine at a time and all work waits for the answer, so Next must not block, allocate or read a
// clock.
//
// A limiter calls Next and Retune, and Law.Controller in an update, under its lock. Limiters of one
// bulkhead.Set with a cap share that lock, and the set has locks of its own. So none of these three
// methods may call its limiter, the set, or any other limiter of the set: that would deadlock. A
// hook such as OnEvent may, because it runs after the lock is released.
//
// A Controller may also implement [Retuner] and [Resumer].
type Controller interface {
	// Next decides the next limit from the last window. The first call, before any work, gets
	// an empty window with only Limit, Min and Max set: there a law plans how the first
	// window is measured.
	Next(Window) Decision
}

// A Retuner is a [Controller] that can take over new settings and keep its state. Retune reports
// whether it took the settings over. It declines a Law of another type.
type Retuner interface {
	Retune(Law) bool
}

// Bounds are the limits that a law may choose from. A limiter has checked them:
// 1 <= Min <= Initial <= Max.
type Bounds struct {
	Min, Max, Initial int
}

// Clamp returns limit rounded down to a whole number within the bounds. NaN becomes fallback,
// itself brought within the bounds.
func (b Bounds) Clamp(limit float64, fallback int) int {
	if math.IsNaN(limit) {
		limit = float64(fallback)
	}
	return int(min(max(limit, float64(b.Min)), float64(b.Max)))
}

// A Window holds the measurements since the law last changed the limit, or over the limiter's
// look-back if that is shorter. It leaves out work that started under an earlier limit.
type Window struct {
	Limit    int           // the limit that was applied
	Min, Max int           // the bounds that apply now
	Elapsed  time.Duration // time measured

	MinSamples int // samples asked for; a window that grew too old has fewer

	Samples  int // work that succeeded; only its latency is measured
	Failures int // work that failed
	Timeouts int // work that ran out of time
	Refused  int // work that was refused
	// Overloaded is the work that the downstream refused because of its load. It is not in
	// the counts above.
	Overloaded int
	// Late is the work whose answer came too late, whenever the work started: it ran out of time,
	// or succeeded after its caller had left. It is in other counts too.
	Late int
	// Abandoned is the work whose caller left before it ended. It is in no other count.
	Abandoned int
	// RetryAfter is the wait that a downstream asked for while it served no work.
	RetryAfter time.Duration
	Weight     int // weight of the work that succeeded, whenever it started

	// These counts have work that ended in the window and had started before measuring began. Its
	// latency is no sample.
	Carried       int // work that succeeded
	CarriedFailed int // work that failed or ran out of time

	Mean      time.Duration // mean latency
	Sojourn   time.Duration // mean latency of all work that succeeded, whenever it started
	Deviation time.Duration // standard deviation of the latency
	Least     time.Duration // smallest latency
	EWMA      time.Duration // exponentially weighted average latency, across windows
	Latencies Latencies     // distribution of the latencies; only valid during the call of Next

	InFlight float64       // mean work in flight, weighted by time
	Crowd    float64       // mean work in flight, weighted by work: the concurrency that each piece of work met
	Held     Held          // the part of the window in which the limit held work back
	Peak     int           // most work in flight at once
	First    int           // work in flight when measuring began
	Last     int           // work in flight now
	Age      time.Duration // age of the oldest work in flight

	Waited    int           // work that queued before it started
	QueueWait time.Duration // mean time in the queue of the work that waited
	Saturated float64       // share of the time in which the limit held work back, 0 to 1

	// Deadline is the time that work had left when it arrived: the median of the last
	// arrivals. It is 0 if most work has no deadline.
	Deadline time.Duration

	// Closed is the wall clock when the window was closed, the zero Time if unknown. Independent
	// limiters agree on it as far as the clocks of their machines do, so a law may use it to act in
	// step with others. Do not measure intervals by it.
	Closed time.Time
}

// Held is the part of a [Window] in which the limit held work back. In intermittent traffic
// only that part says something about the limit.
type Held struct {
	Elapsed   time.Duration // length of this part
	InFlight  float64       // mean work in flight
	Completed int           // work that ended with any outcome
}

// Latencies is a distribution of latencies.
type Latencies interface {
	// Quantile returns the latency that the share q (0 to 1) of the samples
	// does not exceed, or 0 if there are none.
	Quantile(q float64) time.Duration
}

// Quantile returns the latency that the share q (0 to 1) of the window's
// samples does not exceed, or 0 if it has none.
func (w Window) Quantile(q float64) time.Duration {
	if w.Latencies == nil {
		return 0
	}
	return w.Latencies.Quantile(q)
}

// Completed counts the work with a known outcome: successes, failures and timeouts.
func (w Window) Completed() int { return w.Samples + w.Failures + w.Timeouts }

// ErrorRate is the share of the completed work that failed or ran out of time,
// 0 to 1.
func (w Window) ErrorRate() float64 {
	return float64(w.Failures+w.Timeouts) / float64(max(1, w.Completed()))
}

// TimeoutRate is the share of the completed work that ran out of time, 0 to 1.
func (w Window) TimeoutRate() float64 {
	return float64(w.Timeouts) / float64(max(1, w.Completed()))
}

// OverloadRate is the share of the work that the downstream refused, 0 to 1.
func (w Window) OverloadRate() float64 {
	return float64(w.Overloaded) / float64(max(1, w.Completed()+w.Overloaded))
}

// Throughput is successful work per second.
func (w Window) Throughput() float64 {
	if w.Elapsed <= 0 {
		return 0
	}
	return float64(w.Samples) / w.Elapsed.Seconds()
}

// Used reports whether the limit was ever reached. A law should raise only a limit that was used:
// an idle limit says nothing about a higher limit.
func (w Window) Used() bool { return w.Peak >= w.Limit || w.Refused > 0 }

// A Decision is a law's answer to a window.
type Decision struct {
	Limit  float64 // the next limit; the limiter rounds it down and keeps it in bounds
	Reason Reason  // why
	Next   Plan    // how to measure the next window
}

// A Plan sets how to measure the next window. The zero Plan leaves everything to the
// limiter's settings.
type Plan struct {
	Settle     time.Duration // after a change, let work in flight settle this long before measuring
	Interval   time.Duration // decide this often
	MinSamples int           // decide on no fewer samples; the window stays open until then
	MaxSamples int           // decide at this number of samples, and measure each window afresh
	MaxAge     time.Duration // look no further back
	Carried    bool          // count work that had started before measuring began among MinSamples

	// Rest is how long the slot of work that the downstream refuses stays taken, from the start of
	// the work. Refusals come at once: without a rest, one slot too many sends work as fast as the
	// downstream refuses it.
	Rest time.Duration

	MinDeadline time.Duration // leave work that has less time left out of Window.Deadline
}

// Sorted is a list of latencies in ascending order: [Latencies] for trying a law by hand.
type Sorted []time.Duration

// Quantile returns the nearest-rank quantile.
func (s Sorted) Quantile(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(s))))
	return s[min(max(rank, 1), len(s))-1]
}

// SortedOf returns the given latencies as a [Sorted] list of their own.
func SortedOf(latencies ...time.Duration) Sorted {
	s := slices.Clone(latencies)
	slices.Sort(s)
	return s
}

// Knowledge is the knowledge of a law about a downstream, for a limiter that takes over from
// another one, as after a restart.
type Knowledge struct {
	Limit  int           // to continue from, 0 if nothing was learned
	NoLoad time.Duration // latency without load, 0 if unknown
}

// A Resumer is a [Controller] whose knowledge can outlive it. A limiter of another law keeps only
// its limit.
type Resumer interface {
	Controller

	// Learned returns the knowledge so far, at this limit.
	Learned(limit int) Knowledge

	// Resume is called before the first Next, with a limit within the bounds.
	Resume(Knowledge)
}

// Learned returns the knowledge of a controller at a limit.
func Learned(c Controller, limit int) Knowledge {
	if r, ok := c.(Resumer); ok {
		return r.Learned(limit)
	}
	return Knowledge{Limit: limit}
}

// Resume returns a law that starts from the knowledge of an earlier controller of l, within the
// bounds. Without knowledge it starts as l does.
func Resume(l Law, k Knowledge) Law { return resumed{l, k} }

type resumed struct {
	Law
	knowledge Knowledge
}

// Start returns the limit to continue from.
func (r resumed) Start() int {
	if r.knowledge.Limit > 0 {
		return r.knowledge.Limit
	}
	return Start(r.Law)
}

func (r resumed) Controller(b Bounds) (Controller, error) {
	k := r.knowledge
	if k.Limit > 0 {
		b.Initial = min(max(k.Limit, b.Min), b.Max)
		k.Limit = b.Initial
	}
	c, err := r.Law.Controller(b)
	if resumer, ok := c.(Resumer); ok && err == nil && k.Limit > 0 {
		resumer.Resume(k)
	}
	return c, err
}
