package portable

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// ulps is how many numbers lie between two.
func ulps(a, b float64) float64 {
	if a == b || a != a && b != b {
		return 0
	}
	return math.Abs(a-b) / (math.Nextafter(max(math.Abs(a), math.Abs(b)), math.Inf(1)) - max(math.Abs(a), math.Abs(b)))
}

var functions = []struct {
	name         string
	ours, theirs func(float64) float64
	low, high    float64 // of the argument, where it is drawn evenly
	ulps         float64
}{
	{"Log", Log, math.Log, 0, 3, 4},
	{"Log of large", Log, math.Log, 0, math.MaxFloat64, 1},
	{"Log of small", Log, math.Log, 0, 1e-300, 1},
	{"Exp", Exp, math.Exp, -2, 2, 2},
	{"Exp of large", Exp, math.Exp, -708, 709, 2},
	{"Expm1", Expm1, math.Expm1, -1, 1, 3},
	{"Expm1 of small", Expm1, math.Expm1, -1e-9, 1e-9, 1},
	{"Expm1 of large", Expm1, math.Expm1, -50, 700, 3},
}

func TestNearThoseOfMath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range functions {
		worst, at := 0.0, 0.0
		for range 200_000 {
			x := f.low + r.Float64()*(f.high-f.low)
			if d := ulps(f.ours(x), f.theirs(x)); d > worst {
				worst, at = d, x
			}
		}
		if t.Logf("%s: %.1f ulp at %v", f.name, worst, at); worst > f.ulps {
			t.Errorf("%s(%v) is %.1f ulp off, want at most %v", f.name, at, worst, f.ulps)
		}
	}
	for range 200_000 {
		turn := 4*r.Float64() - 2
		if got, want := SinTurn(turn), math.Sin(turn*2*math.Pi); math.Abs(got-want) > 3e-15 {
			t.Fatalf("SinTurn(%v) is %v, want %v", turn, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	inf := math.Inf(1)
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, -1, inf, -inf, math.NaN(), 3e-308, math.MaxFloat64,
		-math.MaxFloat64, overflow, underflow, 710, -746,
	} {
		for _, f := range functions {
			if got, want := f.ours(x), f.theirs(x); ulps(got, want) > 4 {
				t.Errorf("%s(%v) is %v, want %v", f.name, x, got, want)
			}
		}
	}
	for quarter, want := range []float64{0, 1, 0, -1} {
		if got := SinTurn(float64(quarter) / 4); math.Abs(got-want) > 2e-16 {
			t.Errorf("the sine of %d right angles is %v", quarter, got)
		}
	}
}

// TestBits has results to the last bit. A change of one of them changes every simulation.
func TestBits(t *testing.T) {
	const want = 0x53c981c5a7bcfb11
	sum, r := fnv.New64a(), rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		x := r.Float64()
		for _, y := range []float64{Log(x), Exp(5 * x), Expm1(-x), SinTurn(x)} {
			fmt.Fprintf(sum, "%x", math.Float64bits(y))
		}
	}
	if got := sum.Sum64(); got != want {
		t.Errorf("the results have the sum %#x, want %#x", got, uint64(want))
	}
}

func FuzzFunctions(f *testing.F) {
	f.Add(1.0)
	f.Add(math.Inf(-1))
	f.Fuzz(func(t *testing.T, x float64) {
		if x != 0 && math.Abs(x) < 0x1p-1022 {
			t.Skip() // math.Log is wrong there on amd64: it says -709 for e^-744
		}
		for _, f := range functions {
			if got, want := f.ours(x), f.theirs(x); ulps(got, want) > 4 {
				t.Errorf("%s(%v) is %v, want %v", f.name, x, got, want)
			}
		}
		if s := SinTurn(x); math.Abs(s) > 1+1e-15 {
			t.Errorf("SinTurn(%v) is %v", x, s)
		}
	})
}

func TestFiniteExpIsNeitherInfiniteNorZero(t *testing.T) {
	for _, x := range []float64{math.Inf(-1), -1e9, 1e9, math.Inf(1)} {
		if got := FiniteExp(x); got <= 0 || math.IsInf(got, 0) {
			t.Errorf("FiniteExp(%v) = %v", x, got)
		}
	}
	if got := FiniteExp(0.7); got != Exp(0.7) {
		t.Errorf("FiniteExp(0.7) = %v, want %v", got, Exp(0.7))
	}
}
