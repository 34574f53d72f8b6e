package knee

import "testing"

// In another unit of time ln X differs by a constant, and a filter must round as it would without.
// The constant and the observations have few bits, so that their differences are exact.
func TestFilterIsUnchangedByTheUnitOfTime(t *testing.T) {
	const other = 349525.0 / (1 << 20) // a third, and so no whole number of steps
	var one, two Tracker
	for i := range 200 {
		z := Observation{float64(i%7)/4 + 1, float64(i*i%64)/128 + 3, 40}
		shifted := z
		shifted.X += other
		one.Learn(z, Circumstances{Saturated: true})
		two.Learn(shifted, Circumstances{Saturated: true})
	}
	if one.score != two.score || one.capacity != two.capacity {
		t.Error("a filter believes something else in another unit of time")
	}
}
