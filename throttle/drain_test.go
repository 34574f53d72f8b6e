package throttle

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

// A digester drives the drain law with a store that digests 5 tables a second, of 100 writes each,
// so that 500 writes a second keep its backlog as it is.
type digester struct {
	law     controller
	drained float64
	limit   float64
}

const every = 100 * time.Millisecond

func digesting(t *testing.T) *digester {
	t.Helper()
	law, err := DrainRate{}.start()
	if err != nil {
		t.Fatal(err)
	}
	d := &digester{law: law}
	for range 300 {
		d.next(9)
	}
	return d
}

func (d *digester) next(backlog float64) (rate float64) {
	d.drained += 0.5
	return d.law.next(signals{
		dt: every, cost: 50, fresh: true,
		drain: load.Drain{Drained: d.drained, Backlog: backlog, Target: 9, Limit: d.limit},
	}).rate
}

// The teeth of a saw around the target move the rate by much less than the backlog of the
// moment would: by 0.36 of it.
func TestDrainRateGoesByTheMean(t *testing.T) {
	d := digesting(t)
	least, most := math.Inf(1), 0.0
	for i := range 160 {
		rate := d.next(7 + 0.5*float64(i%8))
		if i >= 80 {
			least, most = min(least, rate), max(most, rate)
		}
	}
	if least < 400 || most > 600 || most-least > 75 {
		t.Errorf("from %v to %v, want about 500", least, most)
	}
}

// Beyond its limit a store that still digests gets something to do.
func TestDrainRateLeavesSomething(t *testing.T) {
	d := digesting(t)
	d.limit = 14
	if got, want := d.next(30), 500*leastFactor; got < want/2 || got > 2*want {
		t.Errorf("a pace of %v, want about %v", got, want)
	}
}

// One number beyond all sense is forgotten in seconds.
func TestDrainRateForgetsAnAbsurdBacklog(t *testing.T) {
	for _, limit := range []float64{0, 14} {
		d := digesting(t)
		d.limit = limit
		d.next(math.MaxFloat64)
		rate := 0.0
		for range 50 {
			rate = d.next(9)
		}
		if rate < 450 || rate > 550 {
			t.Errorf("with a limit of %v, 5 s later: %v, want about 500", limit, rate)
		}
	}
}

// A store that is at ease again is let off step by step.
func TestDrainRateEasesStepByStep(t *testing.T) {
	d := digesting(t)
	var rates []float64
	for range 70 {
		rates = append(rates, d.next(0))
	}
	for _, second := range []int{3, 4, 5} {
		if got := rates[10*second] / rates[10*(second-1)]; math.Abs(got-2) > 0.1 {
			t.Errorf("in second %d the rate went up %v times, want 2", second, got)
		}
	}
	if rates[58] == 0 || rates[60] != 0 {
		t.Errorf("a pace of %v just before 6 s and of %v after, want one and none", rates[58], rates[60])
	}
}

// Equal steps of effort are equal factors of the rate.
func TestEffortIsSpentOnALogarithmicScale(t *testing.T) {
	l := pidLaw{slowest: 1, fastest: 10_000}
	for effort, want := range map[float64]float64{0: 0, 0.25: 1000, 0.5: 100, 0.75: 10, 1: 1} {
		if got := l.rate(effort); math.Abs(got-want) > 1e-9*want {
			t.Errorf("an effort of %v is a rate of %v, want %v", effort, got, want)
		}
	}
}
