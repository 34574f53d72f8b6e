package knee

// toward32 goes a share of the way from one number to another.
func toward32(from, to, share float32) float32 { return from + float32(share*(to-from)) }

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
