package sim

import (
	"math"
	"time"

	"github.com/weir-go/weir/internal/portable"
)

// Work is a distribution of service times: the duration of a request on an idle server at
// full speed. Custom implementations can use [Rand].
type Work interface {
	// Draw returns the next service time.
	Draw(*Rand) time.Duration
}

// Constant work always takes Mean.
type Constant struct {
	Mean time.Duration `json:"mean" range:"(0s,24h]"`
}

// Exponential work is memoryless, with the mean Mean.
type Exponential struct {
	Mean time.Duration `json:"mean" range:"(0s,24h]"`
}

// Lognormal work has a heavy tail, with the mean Mean and the coefficient of variation CV.
type Lognormal struct {
	Mean time.Duration `json:"mean" range:"(0s,24h]"`
	CV   float64       `json:"cv" range:"(0,10]"`
}

// Bimodal work takes Slow with probability Share and Fast otherwise, as when some requests
// miss a cache.
type Bimodal struct {
	Fast  time.Duration `json:"fast" range:"(0s,24h]"`
	Slow  time.Duration `json:"slow" range:"(0s,24h]"`
	Share float64       `json:"share" range:"[0,1]"`
}

// Pareto work has the mean Mean and a power-law tail: the share of work that takes longer than t
// falls as t^-Alpha. Its variance is infinite up to an Alpha of 2. No work takes longer than a day.
type Pareto struct {
	Mean  time.Duration `json:"mean" range:"(0s,24h]"`
	Alpha float64       `json:"alpha" range:"(1,100]"`
}

// Draw implements [Work].
func (w Constant) Draw(*Rand) time.Duration { return w.Mean }

// Draw implements [Work].
func (w Exponential) Draw(r *Rand) time.Duration {
	return nanoseconds(mul(float64(w.Mean), r.Exp()))
}

// Draw implements [Work]. With s² = ln(1+CV²), the mean of e^(s z - s²/2) is 1.
func (w Lognormal) Draw(r *Rand) time.Duration {
	variance := portable.Log(1 + mul(w.CV, w.CV))
	exponent := mul(math.Sqrt(variance), r.Normal()) - mul(0.5, variance)
	return nanoseconds(mul(float64(w.Mean), portable.Exp(exponent)))
}

// Draw implements [Work].
func (w Bimodal) Draw(r *Rand) time.Duration {
	if r.Float64() < w.Share {
		return w.Slow
	}
	return w.Fast
}

// Draw implements [Work]. The minimum is (Alpha-1)/Alpha of the mean.
func (w Pareto) Draw(r *Rand) time.Duration {
	least := mul(float64(w.Mean), (w.Alpha-1)/w.Alpha)
	return nanoseconds(mul(least, portable.Exp(r.Exp()/w.Alpha)))
}

// nanoseconds returns a duration, at least a nanosecond and at most a day.
func nanoseconds(ns float64) time.Duration {
	return time.Duration(min(max(ns, 1), float64(24*time.Hour)))
}
