package knee

import (
	"math"
	"testing"
)

// learned is what a filter believes after steady windows along a curve.
func learned(x func(n float64) float64, ns ...float64) (*Filter, *Belief) {
	f, b := &Filter{}, &Belief{}
	for range 20 {
		for _, n := range ns {
			f.Absorb(Observation{math.Log(n), math.Log(x(n)), 100})
		}
	}
	f.Believe(b)
	return f, b
}

func shapeOf(b *Belief) (likeliest int, p float32) {
	for s := range shapes {
		sum := float32(0)
		for _, v := range b.p[s] {
			sum += v
		}
		if sum > p {
			likeliest, p = s, sum
		}
	}
	return likeliest, p
}

func TestFilterFindsTheCurve(t *testing.T) {
	const knee, capacity = 40, 1000
	for shape, x := range map[int]func(u float64) float64{
		sharp:  func(u float64) float64 { return u * math.Pow(1+math.Pow(u, 6), -1.0/6) },
		soft:   func(u float64) float64 { return u / math.Sqrt(1+u*u) },
		folded: func(u float64) float64 { return u / (1 + u/2 + u*u) },
	} {
		f, b := learned(func(n float64) float64 { return capacity * x(n/knee) }, 10, 20, 40, 60, 100)
		if s, p := shapeOf(b); s != shape || p < 0.5 {
			t.Errorf("shape %d: taken for %d, probability %v", shape, s, p)
		}
		if got := math.Exp(b.Knee.Mean); math.Abs(got/knee-1) > 0.25 {
			t.Errorf("shape %d: knee at %.1f, want %d", shape, got, knee)
		}
		got, want := f.predict(b, math.Log(80)), math.Log(capacity*x(80.0/knee))
		if math.Abs(got.Mean-want) > 0.05 {
			t.Errorf("shape %d: predicts ln X = %.3f at 80 in flight, want %.3f", shape, got.Mean, want)
		}
	}
}

// One observation: every hypothesis puts its capacity where the curve passes
// through it, and none is likelier.
func TestAbsorbByHand(t *testing.T) {
	f := Filter{}
	f.Absorb(Observation{math.Log(20), math.Log(500), 50})
	for k := range knees {
		u := 20 / math.Exp(grid(0).lnKnee(k))
		want := math.Log(500) - math.Log(u/math.Sqrt(1+u*u))
		if got := f.origin + float64(f.lnCapacity(soft, k)); math.Abs(got-want) > 0.01 || f.score[soft][k] != 0 {
			t.Fatalf("knee %d: ln C = %.4f, score %v, want %.4f and 0", k, got, f.lnScore(soft, k), want)
		}
	}
	// The second, at the same N, is 0.2 off: all means move by half of that, and all
	// lose 0.2² * 50*50/100 / 2 = 0.5, so none is likelier still.
	before := f.lnCapacity(soft, 30)
	f.absorb(Observation{math.Log(20), math.Log(500) + 0.2, 50}, 1)
	if moved := f.lnCapacity(soft, 30) - before; math.Abs(float64(moved)-0.1) > capacityStep || f.weight != 100 ||
		f.score[soft][30] > 1 {
		t.Errorf("moved %v, weight %v, score %v", moved, f.weight, f.lnScore(soft, 30))
	}
}
