package sim

import (
	"math"
	"math/rand/v2"
)

// A Rand is a source of random numbers that gives the same sequence, bit by bit,
// on every machine.
type Rand struct{ pcg rand.PCG }

// The purposes that have a generator of their own, so that a law that refuses
// more draws nothing that another request would have drawn.
const (
	arrivalStream = iota + 1
	rateStream
	workStream
	clientStream
	retryStream
	systemStream
)

func newRand(seed, stream uint64) *Rand {
	r := &Rand{}
	r.pcg.Seed(seed, stream*0x9e3779b97f4a7c15) // the golden ratio spreads small numbers
	return r
}

// Float64 returns a number from 0 to less than 1.
func (r *Rand) Float64() float64 { return float64(r.pcg.Uint64()>>11) / (1 << 53) }

// Exp returns an exponential number with mean 1.
func (r *Rand) Exp() float64 { return -ln(1 - r.Float64()) }

// Normal returns a normal number with mean 0 and deviation 1, by Marsaglia's
// polar method.
func (r *Rand) Normal() float64 {
	for {
		u, v := 2*r.Float64()-1, 2*r.Float64()-1
		if s := mul(u, u) + mul(v, v); s > 0 && s < 1 {
			return mul(u, math.Sqrt(-2*ln(s)/s))
		}
	}
}

// N returns a whole number from 0 to less than n.
func (r *Rand) N(n int) int { return int(mul(r.Float64(), float64(n))) }

// mul is a product that is rounded before anything is added to it.
func mul(a, b float64) float64 { return float64(a * b) }

const (
	ln2Hi = 6.93147180369123816490e-01 // ends in zeros: its multiples are exact
	ln2Lo = 1.90821492927058770002e-10
)

// ln is the natural logarithm of a positive number: with f = m*2^k, m around 1 and
// s = (m-1)/(m+1), ln m = 2 atanh s. Eleven terms of the series are enough,
// as |s| < 0.172.
func ln(x float64) float64 {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := (m - 1) / (m + 1)
	square, series := mul(s, s), 0.0
	for n := 21.0; n >= 1; n -= 2 {
		series = mul(series, square) + 1/n
	}
	return mul(float64(k), ln2Hi) + (mul(2*s, series) + mul(float64(k), ln2Lo))
}

// exp is e^x: with x = k ln 2 + r, |r| < 0.35, it is 2^k times the Taylor series of r.
func exp(x float64) float64 {
	k := math.Floor(mul(x, math.Log2E) + 0.5)
	r := x - mul(k, ln2Hi) - mul(k, ln2Lo)
	series := 1.0
	for n := 14.0; n >= 1; n-- {
		series = 1 + mul(series, r)/n
	}
	return math.Ldexp(series, int(k))
}

// sine is the sine of a turn's fraction, from 0 to 1.
func sine(turn float64) float64 {
	x := turn - math.Floor(turn+0.5) // within half a turn of 0
	switch {
	case x > 0.25:
		x = 0.5 - x
	case x < -0.25:
		x = -0.5 - x
	}
	x = mul(x, 2*math.Pi)
	square, series := mul(x, x), 1.0
	for n := 20.0; n >= 2; n -= 2 {
		series = 1 - mul(series, square)/(n*(n+1))
	}
	return mul(x, series)
}
