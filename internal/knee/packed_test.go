package knee

import (
	"math"
	"testing"
	"unsafe"
)

// A float would lose nothing by steps that are far below what is kept, and neither may a filter.
func TestSmallStepsAddUp(t *testing.T) {
	const each, times = capacityStep / 7, 7000
	var f Filter
	for range times {
		f.setCapacity(soft, 3, f.lnCapacity(soft, 6)+each)
	}
	// Each time the dice adds a variance of 6/49 of a step: the deviation of all is 29 steps
	// of 1000.
	if got, want := float64(f.lnCapacity(soft, 6)), float64(each*times); math.Abs(got-want) > 0.12*want {
		t.Errorf("%d times %.6f is %.3f, want %.3f", times, each, got, want)
	}
}

func TestWhatFitsIsKeptExactly(t *testing.T) {
	var f Filter
	for _, x := range []float32{-32, -1.5, 0, capacityStep, 31} {
		if f.setCapacity(folded, nodes-1, x); f.lnCapacity(folded, 2*nodes-2) != x {
			t.Errorf("%v became %v", x, f.lnCapacity(folded, 2*nodes-2))
		}
	}
	for _, x := range []float32{-1e9, 1e9} {
		if f.setCapacity(folded, 0, x); math.Abs(float64(f.lnCapacity(folded, 0))) < 31 ||
			f.lnCapacity(folded, 0)*x < 0 {
			t.Errorf("%v became %v", x, f.lnCapacity(folded, 0))
		}
	}
}

// The likeliest hypothesis has the score 0, what is ruled out the least one, whatever came before.
func TestScoresAreRelative(t *testing.T) {
	var f Filter
	var to scores
	for s := range shapes {
		for k := range knees {
			to[s][k] = -1000
		}
	}
	to[soft][7], to[sharp][9] = 50, 48
	f.setScores(&to)
	if f.score[soft][7] != 0 || f.lnScore(folded, 0) != leastScore ||
		math.Abs(float64(f.lnScore(sharp, 9)+2)) > scoreStep {
		t.Errorf("scores %v, %v and %v, want 0, %v and -2", f.lnScore(soft, 7), f.lnScore(folded, 0),
			f.lnScore(sharp, 9), float64(leastScore))
	}
}

// Between two knees ln C is kept by neither, and must be near what it is. The sharp curve bends
// most.
func TestCapacityBetweenNodes(t *testing.T) {
	for s := range shapes {
		var f Filter
		z := Observation{math.Log(60), math.Log(1000), 100}
		f.Absorb(z)
		at := f.grid.locate(z.N)
		for k := range knees {
			if miss := f.miss(z, at, s, k); math.Abs(float64(miss)) > 0.01 {
				t.Errorf("shape %d, knee %d: misses what it saw by %v", s, k, miss)
			}
		}
	}
}

func TestFilterSize(t *testing.T) {
	if size := unsafe.Sizeof(Filter{}); size > 544 {
		t.Errorf("a filter takes %d bytes, want at most 544", size)
	}
}
