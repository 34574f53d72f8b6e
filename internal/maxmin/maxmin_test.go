package maxmin

import (
	"reflect"
	"slices"
	"testing"
)

func TestParts(t *testing.T) {
	for _, test := range []struct {
		total float64
		needs []float64
		want  []float64
	}{
		{12, []float64{10, 2, 10}, []float64{5, 2, 5}},
		{9, []float64{10, 10, 10}, []float64{3, 3, 3}},
		{40, []float64{10, 0, 10}, []float64{20, 0, 20}},
		{5, []float64{0, 0}, []float64{0, 0}},
	} {
		if got := fairParts(test.total, test.needs); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v among %v is %v, want %v", test.total, test.needs, got, test.want)
		}
	}
}

// TestSplit checks that the parts are integers with the right sum, except for the minimum of
// each.
func TestSplit(t *testing.T) {
	for _, test := range []struct {
		total int
		needs []float64
		want  []int
	}{
		{11, []float64{10, 2, 10}, []int{5, 2, 4}},
		{2, []float64{4, 4, 0, 4}, []int{1, 1, 0, 1}},
		{30, []float64{1, 100}, []int{1, 29}},
	} {
		if got := Split(test.total, test.needs); !slices.Equal(got, test.want) {
			t.Errorf("%d among %v is %v, want %v", test.total, test.needs, got, test.want)
		}
	}
}
