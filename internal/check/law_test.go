package check

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

func controller(t *rapid.T, l law.Law, b law.Bounds) law.Controller {
	c, err := l.Controller(b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tickless is Setpoint without ticks, which depend on the wall clock.
func tickless(budget time.Duration) law.Law { return law.Setpoint{Budget: budget, Without: "tick"} }

// Setpoint plans its windows in seconds, but decides on ratios alone: if all times are
// scaled by a factor, a converged limit is the same, up to one slot of rounding. Times that
// are powers of two lose nothing in a float, so that a comparison of two equal numbers is
// unchanged.
func TestSetpointIsUnchangedByTheUnitOfTime(t *testing.T) {
	const budget, elapsed = time.Second / 4, time.Second / 8
	rapid.Check(t, func(t *rapid.T) {
		b := law.Bounds{Min: 1, Max: 1000, Initial: rapid.IntRange(1, 200).Draw(t, "initial")}
		times := time.Duration(1) << rapid.IntRange(1, 6).Draw(t, "doublings")
		quick, slow := controller(t, tickless(budget), b), controller(t, tickless(times*budget), b)
		limit := b.Initial
		calm := law.Window{
			Limit: limit, Min: b.Min, Max: b.Max, Elapsed: elapsed, Samples: 20, Mean: time.Millisecond,
			InFlight: 0.2, Peak: 1, First: 1, Last: 1,
		}
		quick.Next(calm)
		calm.Elapsed, calm.Mean = times*calm.Elapsed, times*calm.Mean
		slow.Next(calm)
		for range rapid.IntRange(1, 30).Draw(t, "windows") {
			mean := time.Duration(rapid.IntRange(1e6, 1e8).Draw(t, "mean"))
			w := law.Window{
				Limit: limit, Min: b.Min, Max: b.Max, Elapsed: elapsed,
				Samples: rapid.IntRange(20, 500).Draw(t, "samples"), Refused: 100, Mean: mean, Deviation: mean / 2,
				InFlight: float64(limit), Peak: limit, First: limit, Last: limit,
			}
			d := quick.Next(w)
			w.Elapsed, w.Mean, w.Deviation = times*w.Elapsed, times*w.Mean, times*w.Deviation
			if again := slow.Next(w); math.Abs(again.Limit-d.Limit) > 1 {
				t.Fatalf("%v to %v, %d times as slow %v to %v", d.Reason, d.Limit, times, again.Reason, again.Limit)
			}
			limit = int(d.Limit)
		}
	})
}
