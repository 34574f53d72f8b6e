package law

import "math"

// Elastic decides the same on every machine, so that a simulation means the same
// everywhere. The functions of package math do not, as some machines have them in
// assembly; nor does a product that is added to something, which some machines compute in
// one, unless a conversion has it rounded before.

// toward32 goes a share of the way from one number to another.
func toward32(from, to, share float32) float32 { return from + float32(share*(to-from)) }

const (
	ln2High = 6.93147180369123816490e-01 // ends in zeros: its multiples are exact
	ln2Low  = 1.90821492927058770002e-10
)

// ln is the natural logarithm of a positive number: with x = m 2^k, m around 1 and
// s = (m-1)/(m+1), it is k ln 2 + 2 atanh s.
func ln(x float64) float64 {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := (m - 1) / (m + 1)
	square, series := s*s, 0.0
	for n := 17.0; n >= 1; n -= 2 {
		series = float64(series*square) + 1/n
	}
	return float64(float64(k)*ln2High) + (float64(2*s*series) + float64(float64(k)*ln2Low))
}

// inverses are 1/n! up to what matters below.
var inverses = func() (t [12]float64) {
	t[0] = 1
	for n := 1; n < len(t); n++ {
		t[n] = t[n-1] / float64(n)
	}
	return t
}()

// exp is e^x, within the range of a float64: with x = k ln 2 + r, |r| < 0.35, it is 2^k
// times the Taylor series of r.
func exp(x float64) float64 {
	x = min(max(x, -700), 700)
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low)
	series := 0.0
	for n := len(inverses) - 1; n >= 0; n-- {
		series = float64(series*r) + inverses[n]
	}
	return math.Ldexp(series, int(k))
}

// power is x^a for a positive x.
func power(x, a float64) float64 { return exp(a * ln(x)) }

// gamma is the gamma function of 1+x for x from 0 to 2, to 3e-7 (Abramowitz and Stegun,
// Handbook of Mathematical Functions, 6.1.36).
func gamma(x float64) float64 {
	factor := 1.0
	if x > 1 {
		factor, x = x, x-1
	}
	series := 0.0
	for _, c := range [...]float64{
		0.035868343, -0.193527818, 0.482199394, -0.756704078, 0.918206857, -0.897056937, 0.988205891, -0.577191652, 1,
	} {
		series = float64(series*x) + c
	}
	return factor * series
}
