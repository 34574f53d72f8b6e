package badgerload

import "testing"

func TestDrainCountsTablesThatLeft(t *testing.T) {
	var d drain
	for i, step := range []struct {
		tables int
		want   float64
	}{{0, 0}, {5, 0}, {7, 0}, {2, 5}, {4, 5}, {4, 5}, {0, 9}} {
		if got := d.observe(step.tables); got != step.want {
			t.Errorf("step %d: got %v drained, want %v", i, got, step.want)
		}
	}
}
