package throttle

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
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
	law := must.Have(DrainRate{}.start(""))(t)
	d := &digester{law: law}
	for range 300 {
		d.next(9)
	}
	return d
}

// next is a decision after which the store has digested half a table.
func (d *digester) next(backlog float64) (rate float64) { return d.after(50, 0.5, backlog) }

// after is a decision after the given cost was admitted and the given amount digested.
func (d *digester) after(cost, drained, backlog float64) (rate float64) {
	d.drained += drained
	return d.law.next(signals{
		dt: every, cost: cost,
		drain: &load.Drain{Drained: d.drained, Backlog: backlog, Target: 9, Limit: d.limit},
	})
}

// saw has the store digest four tables at once, every 0.8 s, with its backlog at 7 to 10.5. It
// returns the slowest and the fastest pace of the second half.
func (d *digester) saw(teeth int) (least, most float64) {
	least = math.Inf(1)
	for i := range 8 * teeth {
		drained := 0.0
		if i%8 == 0 {
			drained = 4
		}
		rate := d.after(50, drained, 7+0.5*float64(i%8))
		if i >= 4*teeth {
			least, most = min(least, rate), max(most, rate)
		}
	}
	return least, most
}

// The teeth of a saw around the target move the rate by much less than the backlog of the
// moment would: by 0.7 of it.
func TestDrainRateGoesByTheMean(t *testing.T) {
	least, most := digesting(t).saw(20)
	if least < 420 || most > 600 || most-least > 100 {
		t.Errorf("from %v to %v, want about 500", least, most)
	}
}

// Admitted writes that are in no table yet count as if they were, so a flood is braked before it
// shows.
func TestDrainRateCountsWhatIsNotSeen(t *testing.T) {
	d := digesting(t)
	d.limit = 14
	before := d.next(9)
	if flooded := d.after(600, 0.5, 9); flooded > 0.5*before {
		t.Errorf("a pace of %v with 6 tables on their way, %v without", flooded, before)
	}
	if arrived := d.after(50, 6.5, 9); arrived < 0.9*before {
		t.Errorf("a pace of %v once all has arrived and is digested, %v before", arrived, before)
	}
}

// A store that needs seconds for its first digestion, as one that was just opened, gets soon what
// it digests after that. With a mean of the backlog over two of those seconds and more, it
// wrote 769.
func TestDrainRateFindsAStoreThatWasSlow(t *testing.T) {
	const table, limit, first = 100, 14.0, 2500 * time.Millisecond
	law := must.Have(DrainRate{}.start(""))(t)
	rate, written, drained, backlog := 2000.0, 0.0, 0.0, 9.0
	for at := time.Duration(0); at < 2*first; at += every / 5 {
		cost := min(rate, 4000) * (every / 5).Seconds()
		backlog += cost / table
		if at > first {
			written += cost
			if backlog >= 5 { // fewer it leaves
				drained += math.Floor(backlog)
				backlog -= math.Floor(backlog)
			}
		}
		rate = law.next(signals{
			dt: every / 5, cost: cost,
			drain: &load.Drain{Drained: drained, Backlog: math.Floor(backlog), Target: 9, Limit: limit},
		})
		if rate == 0 {
			rate = 4000
		}
	}
	if written < 2500 {
		t.Errorf("%.0f of 10,000 written", written)
	}
}

// The rate while the store had nothing to do says nothing about how fast it digests.
func TestDrainRateForgetsIdleTime(t *testing.T) {
	d := digesting(t)
	for range 600 {
		d.after(0, 0, 0)
	}
	d.after(900, 0, 9)
	for i := range 8 {
		d.after(50, 0, 9+0.5*float64(i))
	}
	if rate := d.after(50, 4, 9); rate < 250 {
		t.Errorf("a pace of %v after a minute of nothing, want hundreds", rate)
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

// A limit may be far above the target, and the mean of the backlog far below what is there now.
func TestDrainRateBrakesAtOnce(t *testing.T) {
	d := digesting(t)
	d.saw(20)
	d.limit = 900
	rate := d.law.next(signals{dt: every / 10, drain: &load.Drain{Drained: d.drained, Backlog: 895, Target: 9, Limit: d.limit}})
	if rate > 100 {
		t.Errorf("a pace of %v just below the limit, want less than 100", rate)
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
		if !(rate > 450 && rate < 550) { // NaN is not
			t.Errorf("with a limit of %v, 5 s later: %v, want about 500", limit, rate)
		}
	}
}

// The pace of a store that has recovered rises step by step.
func TestDrainRateEasesStepByStep(t *testing.T) {
	d := digesting(t)
	var rates []float64
	for range 80 {
		rates = append(rates, d.after(50, 0.5, 0))
	}
	for _, second := range []int{4, 5, 6} {
		if got := rates[10*second] / rates[10*(second-1)]; math.Abs(got-2) > 0.1 {
			t.Errorf("in second %d the rate went up %v times, want 2", second, got)
		}
	}
	if rates[68] == 0 || rates[70] != 0 {
		t.Errorf("a pace of %v just before 7 s and of %v after, want one and none", rates[68], rates[70])
	}
}
