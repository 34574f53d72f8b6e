package throttle

import (
	"math"
	"testing"
)

// Equal steps of effort are equal factors of the rate.
func TestEffortIsSpentOnALogarithmicScale(t *testing.T) {
	l := pidLaw{slowest: 1, fastest: 10_000}
	for effort, want := range map[float64]float64{0: 0, 0.25: 1000, 0.5: 100, 0.75: 10, 1: 1} {
		if got := l.rate(effort); math.Abs(got-want) > 1e-9*want {
			t.Errorf("an effort of %v is a rate of %v, want %v", effort, got, want)
		}
	}
}
