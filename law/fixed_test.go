package law_test

import (
	"testing"

	"github.com/weir-go/weir/law"
)

func TestFixedPinsWithinTheBounds(t *testing.T) {
	c := start(t, law.Fixed{Limit: 60})
	for _, test := range []struct{ low, high, want int }{{1, 200, 60}, {1, 50, 50}, {70, 200, 70}} {
		if d := c.Next(law.Window{Limit: 20, Min: test.low, Max: test.high}); d.Limit != float64(test.want) ||
			d.Reason.Code != law.Pinned {
			t.Errorf("%d to %d: %v to %v, want %d", test.low, test.high, d.Reason, d.Limit, test.want)
		}
	}
}
