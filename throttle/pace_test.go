package throttle

import (
	"math"
	"testing"

	"github.com/weir-go/weir"
)

func TestPaceOutOfRange(t *testing.T) {
	l := weir.Must(weir.New(weir.Config{}))
	for _, p := range []Pace{
		{Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}, {Burst: -1}, {Refuse: 1.1}, {Refuse: math.NaN()},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was accepted", p)
				}
			}()
			setPace(l, p)
		}()
	}
	if got := paceOf(l); got != (Pace{}) {
		t.Errorf("an invalid pace left %+v", got)
	}
}
