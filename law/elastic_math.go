package law

import "github.com/weir-go/weir/internal/portable"

// toward32 goes a share of the way from one number to another.
func toward32(from, to, share float32) float32 { return from + float32(share*(to-from)) }

func ln(x float64) float64 { return portable.Log(x) }

// exp is e^x, as if x were within the range of a float64: what comes is neither infinite
// nor 0.
func exp(x float64) float64 { return portable.Exp(min(max(x, -700), 700)) }

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
