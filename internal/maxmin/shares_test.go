package maxmin

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestShares(t *testing.T) {
	for _, test := range []struct {
		total   int
		needs   []int
		weights []float64
		want    []int
	}{
		{12, []int{10, 2, 10}, []float64{1, 1, 1}, []int{5, 2, 5}},
		{30, []int{100, 100}, []float64{1, 2}, []int{10, 20}},
		{30, []int{100, 4, 100}, []float64{1, 2, 1}, []int{13, 4, 13}},
		{12, []int{0, 3}, []float64{1, 1}, []int{5, 7}},         // the excess of 9 is headroom
		{2, []int{9, 9, 9}, []float64{1, 1, 1}, []int{1, 1, 0}}, // fewer slots than needs
		{0, []int{9, 9}, []float64{1, 1}, []int{0, 0}},
		{9, []int{5, 5}, []float64{0, 0}, []int{0, 0}},
		{9, nil, nil, []int{}},
	} {
		if got := Shares(test.total, test.needs, test.weights); !slices.Equal(got, test.want) {
			t.Errorf("%d for the needs %v with the weights %v is %v, want %v", test.total, test.needs, test.weights, got, test.want)
		}
	}
}

// TestSharesHaveTheSum draws needs and weights: the sum is the total, and a part below its
// need is no less, by weight, than any other part without a slot.
func TestSharesHaveTheSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + rng.IntN(40)
		total, needs, weights := rng.IntN(500), make([]int, n), make([]float64, n)
		for i := range n {
			needs[i], weights[i] = rng.IntN(50), 0.1+rng.Float64()*5
		}
		shares, sum := Shares(total, needs, weights), 0
		for i, share := range shares {
			sum += share
			for j, other := range shares {
				if share < needs[i] && float64(other-1)/weights[j] > float64(share+1)/weights[i] {
					t.Fatalf("%v of %d for %v by %v: %d needs more while %d has %d", shares, total, needs, weights, i, j, other)
				}
			}
		}
		if sum != total {
			t.Fatalf("%v for %v by %v: the sum is %d, want %d", shares, needs, weights, sum, total)
		}
	}
}
