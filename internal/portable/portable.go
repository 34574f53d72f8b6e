package portable

import "math"

const (
	ln2Hi = 6.93147180369123816490e-01 // ends in zeros: its multiples are exact
	ln2Lo = 1.90821492927058770002e-10
)

// The coefficients of the power series: of atanh s / s in s², and of e^x.
var (
	atanh = []float64{1, 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21}

	factorial = []float64{
		1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800,
		1. / 39916800, 1. / 479001600, 1. / 6227020800, 1. / 87178291200, 1. / 1307674368000,
	}
)

// series is the sum of the coefficients times the powers of x.
func series(coefficients []float64, x float64) (sum float64) {
	for i := len(coefficients) - 1; i >= 0; i-- {
		sum = float64(sum*x) + coefficients[i]
	}
	return sum
}

// Log is the natural logarithm: with x = m*2^k, m around 1 and s = (m-1)/(m+1),
// ln m = 2 atanh s. Eleven terms are enough, as |s| < 0.172.
func Log(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		return logLimit(x)
	}
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	s := (m - 1) / (m + 1)
	return float64(float64(k)*ln2Hi) + (float64(2*s*series(atanh, s*s)) + float64(float64(k)*ln2Lo))
}

// logLimit is the logarithm of a value that is no positive finite number.
func logLimit(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x > 0:
		return x
	}
	return math.NaN()
}

// Above overflow e^x is infinite, and below underflow it is 0.
const (
	overflow  = 7.09782712893383973096e+02
	underflow = -7.45133219101941108420e+02
)

// Exp is e^x: with x = k ln 2 + r, |r| < 0.35, it is 2^k times the Taylor series of r.
func Exp(x float64) float64 {
	switch {
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	case x != x:
		return x
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	return math.Ldexp(series(factorial[:14], r), int(k))
}

// Expm1 is e^x - 1, also where x is so small that e^x is next to 1: there it is the Taylor
// series without its first term.
func Expm1(x float64) float64 {
	if !(math.Abs(x) < 0.5) {
		return Exp(x) - 1
	}
	return float64(x * series(factorial[1:], x))
}

// FiniteExp is e^x with x clamped to -700 to 700: the result is neither infinite nor 0.
func FiniteExp(x float64) float64 { return Exp(min(max(x, -700), 700)) }

// SinTurn is the sine of a turn's fraction, which may be any finite number.
func SinTurn(turn float64) float64 {
	x := turn - math.Floor(turn+0.5) // within half a turn of 0
	switch {
	case x > 0.25:
		x = 0.5 - x
	case x < -0.25:
		x = -0.5 - x
	}
	x *= 2 * math.Pi
	square, sum := x*x, 1.0
	for n := 20.0; n >= 2; n -= 2 {
		sum = 1 - float64(sum*square)/(n*(n+1))
	}
	return float64(x * sum)
}

// Toward goes a share of the way from one number to another. The conversion rounds the product
// before the sum.
func Toward(from, to, share float64) float64 { return from + float64(share*(to-from)) }
