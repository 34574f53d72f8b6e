package law

import (
	"math"
	"testing"
)

// learned is what a filter believes after steady windows along a curve.
func learned(x func(n float64) float64, ns ...float64) (*kneeFilter, *belief) {
	f, b := &kneeFilter{}, &belief{}
	for range 20 {
		for _, n := range ns {
			f.absorb(observation{math.Log(n), math.Log(x(n)), 100}, forget)
		}
	}
	f.believe(b)
	return f, b
}

func shapeOf(b *belief) (likeliest int, p float32) {
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
		if got := math.Exp(b.knee.mean); math.Abs(got/knee-1) > 0.25 {
			t.Errorf("shape %d: knee at %.1f, want %d", shape, got, knee)
		}
		got, want := f.predict(b, math.Log(80)), math.Log(capacity*x(80.0/knee))
		if math.Abs(got.mean-want) > 0.05 {
			t.Errorf("shape %d: predicts ln X = %.3f at 80 in flight, want %.3f", shape, got.mean, want)
		}
	}
}

// A pool of 40: the best N is at its knee, where the elasticity passes the price.
func TestMeritPeaksAtTheKnee(t *testing.T) {
	_, b := learned(func(n float64) float64 { return 1000 * min(1, n/40) }, 10, 20, 40, 60, 100)
	var j merit
	if n := j.weigh(b, price, 0, 1); n < 35 || n > 65 {
		t.Errorf("best %.1f, want about 40 to 60", n)
	}
	if e := b.elasticity(math.Log(10)); e.mean < 0.9 {
		t.Errorf("elasticity %.2f far below the knee, want about 1", e.mean)
	}
	if e := b.elasticity(math.Log(100)); e.mean > 0.1 {
		t.Errorf("elasticity %.2f far above the knee, want about 0", e.mean)
	}
	// With 40 ms of work and a deadline at 60 ms, a queue of half a pool is too long.
	if free, bound := j.weigh(b, price, 0, 3), j.weigh(b, price, 0.060, 3); bound >= free || bound < 10 {
		t.Errorf("best %.1f with a budget and %.1f without", bound, free)
	}
	// A deadline that no limit can keep changes nothing.
	if free, bound := j.weigh(b, price, 0, 3), j.weigh(b, price, 0.001, 3); bound < free/2 {
		t.Errorf("best %.1f with an impossible budget and %.1f without", bound, free)
	}
}

// One observation: every hypothesis puts its capacity where the curve passes
// through it, and none is likelier.
func TestAbsorbByHand(t *testing.T) {
	f := kneeFilter{}
	f.absorb(observation{math.Log(20), math.Log(500), 50}, forget)
	for k := range knees {
		u := 20 / math.Exp(grid(0).lnKnee(k))
		want := math.Log(500) - math.Log(u/math.Sqrt(1+u*u))
		if got := float64(f.capacity[soft][k]); math.Abs(got-want) > 0.005 || f.score[soft][k] != 0 {
			t.Fatalf("knee %d: ln C = %.4f, score %v, want %.4f and 0", k, got, f.score[soft][k], want)
		}
	}
	// The second, at the same N, is 0.2 off: all means move by half of that, and all
	// lose 0.2² * 50*50/100 / 2 = 0.5, so none is likelier still.
	before := f.capacity[soft][30]
	f.absorb(observation{math.Log(20), math.Log(500) + 0.2, 50}, 1)
	if moved := f.capacity[soft][30] - before; math.Abs(float64(moved)-0.1) > 1e-4 || f.weight != 100 || f.score[soft][30] < -1e-4 {
		t.Errorf("moved %v, weight %v, score %v", moved, f.weight, f.score[soft][30])
	}
}

func TestChangeKeepsWhatTheSameServerKeeps(t *testing.T) {
	f, b := learned(func(n float64) float64 { return 1000 * min(1, n/40) }, 10, 20, 40, 60, 100)
	// A fifth of the throughput under a reached limit of 60: the same knee at a lower
	// speed or a fifth of the workers, rather than anything else.
	f.change(b, observation{math.Log(60), math.Log(200), 100}, true, lessWork)
	at := func(n float64) float32 { return f.score[sharp][int(math.Round((math.Log(n)-leastKnee)/kneeStep))] }
	if at(40) < at(1000)+1 || at(8) < at(1000)+1 || f.weight != 0 {
		t.Errorf("scores %v at 40, %v at 8, %v at 1000", at(40), at(8), at(1000))
	}
}

func TestOneOddWindowIsNoChange(t *testing.T) {
	k := newSeeker(Window{Limit: 60}, flow{}, pulse{})
	normal, odd := observation{math.Log(60), math.Log(1000), 100}, observation{math.Log(60), math.Log(200), 100}
	for range 30 {
		k.learn(normal, flow{saturated: true})
	}
	weight := k.filter.weight
	if change, _ := k.learn(odd, flow{saturated: true}); change != noChange || k.filter.weight != weight {
		t.Error("one odd window counted")
	}
	if change, _ := k.learn(normal, flow{saturated: true}); change != noChange {
		t.Error("a pause was taken for a change")
	}
	k.learn(odd, flow{saturated: true})
	if change, _ := k.learn(odd, flow{saturated: true}); change != lessWork {
		t.Errorf("two odd windows: change %v", change)
	}
}

// Deviations of two standard deviations are not odd one by one, but many in a row are a change.
func TestSmallDeviationsAddUpToAChange(t *testing.T) {
	for _, way := range []float64{lessWork, moreWork} {
		k := seeker{}
		z := observation{math.Log(20), math.Log(500), 50}
		for range 30 {
			k.learn(z, flow{})
		}
		z.x += way * 2.2 / math.Sqrt(z.weight)
		windows := 1
		for change := noChange; change != way; windows++ {
			if change, _ = k.learn(z, flow{}); windows > 8 {
				t.Fatalf("no change in the direction %v after %d windows", way, windows)
			}
		}
		if windows < 5 {
			t.Errorf("a change in the direction %v after %d windows", way, windows)
		}
	}
}

func TestTestTellsAQueueFromSlowerWork(t *testing.T) {
	for _, c := range []struct {
		name string
		x    float64 // after the cut from 100 in flight to 40
		want bool    // the base has moved
	}{{"queue", 1000, false}, {"slower work", 400, true}} {
		var test test
		test.judge(flow{n: 50, x: 1000, latency: 0.05, saturated: true}, 0)
		slow := flow{n: 100, x: 1000, latency: 0.25, saturated: true}
		if test.judge(slow, 0) || !test.judge(slow, 0) {
			t.Fatalf("%s: no test after two slow windows", c.name)
		}
		test.judge(flow{n: 40, x: c.x, latency: 0.1, saturated: true}, 0)
		if moved := test.base > 0.05; moved != c.want {
			t.Errorf("%s: base %v", c.name, test.base)
		}
	}
}
