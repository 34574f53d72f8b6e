package bulkhead

import (
	"math"
	"time"

	"github.com/weir-go/weir/law"
)

// A budget is a law that takes slots from a key while its p95 is above its budget, and gives them
// back when the p95 recovers. As long as it has taken no slot, the key's own law decides.
type budget struct {
	law   law.Law
	p95   time.Duration
	floor int // slots that it never takes

	// These are settings of Config, because the law beneath may plan windows that are too short to
	// judge a p95 by.
	interval   time.Duration
	minSamples int
}

const (
	cutTo    = 0.7  // the share that a cut keeps, as in law.Band
	recovers = 0.9  // of the budget; between this share and the budget the limit stays, so that it does not flap
	givesPer = 0.1  // of the key's former slots: a cut is undone in three windows, and a cut to 1 slot in ten
	quantile = 0.95 // of the budget: law.P95
)

// Controller starts the budget and the law beneath it.
func (b budget) Controller(bounds law.Bounds) (law.Controller, error) {
	own, err := b.law.Controller(bounds)
	if err != nil {
		return nil, err
	}
	return &keeper{budget: b, own: own}, nil
}

// Unwrap returns the law that learns. A key with a budget saves and restores the state of that law.
func (b budget) Unwrap() law.Law { return b.law }

// Start returns the limit that the law beneath the budget starts from.
func (b budget) Start() int { return law.Start(b.law) }

// A keeper keeps one key to its budget.
type keeper struct {
	budget
	own  law.Controller
	owed float64 // the limit before the cut, 0 without a cut

	// These fields are of the last windows in a row with the same result.
	said    law.ReasonCode
	elapsed time.Duration
	samples int
}

// Retune takes a new budget, if the law beneath it can be retuned as well. A fixed limit
// learned nothing and can always be replaced.
func (k *keeper) Retune(l law.Law) bool {
	b, ok := l.(budget)
	if !ok {
		return false
	}
	if fixed, ok := b.law.(law.Fixed); ok {
		own, err := fixed.Controller(law.Bounds{})
		k.budget, k.own = b, own
		return err == nil
	}
	own, ok := k.own.(law.Retuner)
	if !ok || !own.Retune(b.law) {
		return false
	}
	k.budget = b
	return true
}

// Learned returns the knowledge of the law beneath.
func (k *keeper) Learned(limit int) law.Knowledge { return law.Learned(k.own, limit) }

// Resume passes the knowledge on to the key's own law.
func (k *keeper) Resume(learned law.Knowledge) {
	if own, ok := k.own.(law.Resumer); ok {
		own.Resume(learned)
	}
}

// Next cuts the limit, gives slots back, or lets the key's own law decide.
func (k *keeper) Next(w law.Window) law.Decision {
	limit := float64(w.Limit)
	switch have, judged := k.judge(w); {
	case judged && have.Code == law.Above:
		k.owed = max(k.owed, limit)
		floor := float64(max(k.floor, w.Min))
		return law.Decision{Limit: min(limit, max(floor, math.Floor(cutTo*limit))), Reason: have}
	case k.owed == 0:
		return k.own.Next(w)
	case judged && have.Code == law.Below:
		limit = min(limit+max(1, math.Floor(givesPer*k.owed)), float64(w.Max))
		if limit >= min(k.owed, float64(w.Max)) {
			limit = min(k.owed, float64(w.Max))
			k.owed = 0
		}
		return law.Decision{Limit: limit, Reason: have}
	default:
		return law.Decision{Limit: limit, Reason: have}
	}
}

// judge compares the p95 with the budget, once windows in a row with the same result have lasted
// long enough and have enough samples. An idle key is within its budget.
func (k *keeper) judge(w law.Window) (r law.Reason, judged bool) {
	n := w.Samples + w.Timeouts
	if n == 0 {
		if w.Age <= k.p95 {
			return law.Reason{Code: law.Below, Signal: law.P95, Want: k.p95.Seconds()}, true
		}
		return law.Reason{Code: law.TooFew, Want: float64(k.minSamples)}, false
	}
	r = k.compare(w, n)
	if r.Code != k.said {
		k.said, k.elapsed, k.samples = r.Code, 0, 0
	}
	k.elapsed += w.Elapsed
	k.samples += n
	if k.elapsed < k.interval || k.samples < k.minSamples {
		return r, false
	}
	k.elapsed, k.samples = 0, 0
	return r, true
}

// compare compares the p95 of a window with the budget.
func (k *keeper) compare(w law.Window, n int) law.Reason {
	rank := quantile * float64(n) / float64(w.Samples) // work that timed out is slower than all
	if rank > 1 {                                      // also if no work succeeded
		return law.Reason{
			Code: law.Above, Signal: law.Timeouts,
			Have: float64(w.Timeouts) / float64(n), Want: 1 - quantile,
		}
	}
	want := k.p95.Seconds()
	have := w.Latencies.Quantile(rank).Seconds()
	r := law.Reason{Code: law.Within, Signal: law.P95, Have: have, Want: want}
	switch {
	case have > want:
		r.Code = law.Above
	case have <= recovers*want:
		r.Code = law.Below
	}
	return r
}
