package check

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// Whatever a law answers, including infinities and NaN, the applied limit lies within the
// bounds.
func TestClampedLimitIsWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(1, 1000).Draw(t, "min")
		bounds := law.Bounds{Min: low, Max: rapid.IntRange(low, 2000).Draw(t, "max")}
		limit := rapid.Float64().Draw(t, "limit")
		fallback := rapid.Int().Draw(t, "fallback")

		if got := bounds.Clamp(limit, fallback); got < bounds.Min || got > bounds.Max {
			t.Fatalf("Clamp(%v, %d) = %d, want %d to %d", limit, fallback, got, bounds.Min, bounds.Max)
		}
	})
}

var laws = []law.Law{
	law.Fixed{},
	law.Band{},
	law.AIMD{},
	law.Gradient{},
	law.Gradient2{},
	law.Vegas{},
	law.Little{},
	law.PID{},
	law.Setpoint{},
	law.Setpoint{Budget: 100 * time.Millisecond},
}

func controller(t *rapid.T, l law.Law, b law.Bounds) law.Controller {
	c, err := l.Controller(b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// anyWindow returns a window with any values that its types can hold.
func anyWindow(t *rapid.T, limit int, b law.Bounds) law.Window {
	count := func(name string) int { return rapid.IntRange(0, 1<<30).Draw(t, name) }
	span := func(name string) time.Duration { return time.Duration(rapid.Int64().Draw(t, name)) }
	w := law.Window{
		Limit: limit, Min: b.Min, Max: b.Max,
		Elapsed: span("elapsed"), MinSamples: count("min samples"),
		Samples: count("samples"), Failures: count("failures"), Timeouts: count("timeouts"),
		Refused: count("refused"), Carried: count("carried"),
		Mean: span("mean"), Deviation: span("deviation"), Least: span("least"), EWMA: span("ewma"),
		InFlight: anyFloat(t, "in flight"), Peak: count("peak"), First: count("first"), Last: count("last"),
		Age:    span("age"),
		Waited: count("waited"), QueueWait: span("queue wait"), Saturated: anyFloat(t, "saturated"),
	}
	if rapid.Bool().Draw(t, "latencies") {
		w.Latencies = law.SortedOf(span("latency"), span("latency"))
	}
	return w
}

func anyFloat(t *rapid.T, name string) float64 {
	return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{
		math.NaN(), math.Inf(1), math.Inf(-1),
	})).Draw(t, name)
}

// For any measurements, a law's answer is an integer limit within the bounds, with a reason
// in finite numbers, and another controller with the same input gives the same answer.
func TestLawsAnswerWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(laws).Draw(t, "law")
		low := rapid.IntRange(1, 100).Draw(t, "min")
		b := law.Bounds{Min: low, Max: rapid.IntRange(low, 1000).Draw(t, "max")}
		b.Initial = rapid.IntRange(b.Min, b.Max).Draw(t, "initial")
		one, two, limit := controller(t, l, b), controller(t, l, b), b.Initial
		for range rapid.IntRange(1, 20).Draw(t, "windows") {
			w := anyWindow(t, limit, b)
			d := one.Next(w)
			if d.Limit != float64(b.Clamp(d.Limit, 0)) {
				t.Fatalf("%v: limit %v, want a whole number from %d to %d", l, d.Limit, b.Min, b.Max)
			}
			if sum := d.Reason.Have + d.Reason.Want; math.IsNaN(sum) || math.IsInf(sum, 0) {
				t.Fatalf("%v: %+v", l, d.Reason)
			}
			if again := two.Next(w); again != d {
				t.Fatalf("%v: %+v and then %+v", l, d, again)
			}
			limit = int(d.Limit)
		}
	})
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
