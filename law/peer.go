package law

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Peer is a [Controller] that learns together with the controllers of other limiters before one
// downstream. It decides at once, by its own windows. Messages only reduce the differences between
// the limiters, so a message that is seconds old does no harm.
type Peer interface {
	Controller
	// Report returns the state of the limiter, for the other limiters.
	Report() Report
	// Advise takes advice about the last report. After the zero Advice the limiter learns alone.
	Advise(Advice)
}

// A Report is the state of one limiter.
type Report struct {
	NoLoad  time.Duration `json:"no_load"` // latency without load, 0 if unknown
	Target  float64       `json:"target"`  // concurrency that the limiter aims at, 0 if unknown
	Rate    float64       `json:"rate"`    // work that ends, per second
	Reached bool          `json:"reached"` // the limit holds work back
}

// Valid reports whether the numbers of a report are possible.
func (r Report) Valid() bool {
	return r.NoLoad >= 0 && r.Target >= 0 && r.Target <= math.MaxInt32 && r.Rate >= 0 && r.Rate <= math.MaxInt32
}

// Advice is for one of several limiters before one downstream.
type Advice struct {
	Members int           `json:"members"` // limiters that take part
	NoLoad  time.Duration `json:"no_load"` // latency without load by all reports, 0 if unknown
	Slower  float64       `json:"slower"`  // NoLoad over the limiter's no-load latency, 0 if unknown
	Share   float64       `json:"share"`   // fair target over the limiter's target, 0 for no change
}

// Valid reports whether the numbers of an advice are possible.
func (a Advice) Valid() bool {
	return a.Members >= 0 && a.NoLoad >= 0 && a.Slower >= 0 && a.Slower <= math.MaxInt32 && a.Share >= 0 && a.Share <= math.MaxInt32
}

// pooled is the share of the work whose limiters have at most the pooled no-load latency. Load
// raises the latency that some limiters measure. With 0.2 random systems score 0.7 points less,
// with 0.5 shared systems score 0.5 less.
const pooled = 0.3

// Advise returns the advice for each of the reports, in their order. The fair target is the mean
// target of the limiters whose limit is reached. The other limiters have enough slots, so that
// advice only lowers their targets.
func Advise(reports []Report) []Advice {
	noLoad, fair := poolNoLoad(reports), fairTarget(reports)
	advice := make([]Advice, len(reports))
	for i, r := range reports {
		a := Advice{Members: len(reports), NoLoad: noLoad}
		if noLoad > 0 && r.NoLoad > 0 {
			a.Slower = min(float64(noLoad)/float64(r.NoLoad), math.MaxInt32)
		}
		if r.Target > 0 && (r.Reached || r.Target > fair) {
			a.Share = min(fair/r.Target, math.MaxInt32)
		}
		advice[i] = a
	}
	return advice
}

// poolNoLoad is a quantile of the no-load latencies, weighted by the work that ends.
func poolNoLoad(reports []Report) time.Duration {
	known := slices.Clone(reports)
	known = slices.DeleteFunc(known, func(r Report) bool { return r.NoLoad <= 0 || r.Rate <= 0 })
	slices.SortFunc(known, func(a, b Report) int { return cmp.Compare(a.NoLoad, b.NoLoad) })
	all := 0.0
	for _, r := range known {
		all += r.Rate
	}
	below := 0.0
	for _, r := range known {
		if below += r.Rate; below >= float64(pooled*all) {
			return r.NoLoad
		}
	}
	return 0
}

func fairTarget(reports []Report) float64 {
	sum, count := 0.0, 0.0
	for _, r := range reports {
		if r.Reached && r.Target > 0 {
			sum, count = sum+r.Target, count+1
		}
	}
	return sum / max(1, count)
}
