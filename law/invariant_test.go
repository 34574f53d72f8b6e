package law_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// everyLaw has each law of the package, plain and with settings at the end of
// their range.
var everyLaw = []law.Law{
	law.Fixed{},
	law.Fixed{Limit: math.MaxInt},
	law.Band{},
	law.Band{Signal: law.EWMA, Ceiling: 200 * ms, MaxErrorRate: 0.05},
	law.Band{Signal: law.QueueWait, MaxErrorRate: 0.05},
	law.Band{Proportional: true, Step: math.MaxInt, MaxCut: math.MaxInt, Target: math.MaxInt64, Tolerance: 0.99},
	law.Band{Proportional: true, Target: 1, Factor: math.SmallestNonzeroFloat64, Tolerance: 1e-300},
	law.AIMD{},
	law.AIMD{Backoff: 1e-300, Step: math.MaxInt, Timeout: 1},
	law.Gradient{},
	law.Gradient{Least: true, Remeasure: 3, Tolerance: 1e300, Queue: math.MaxInt, Smoothing: 1},
	law.Gradient2{},
	law.Gradient2{Tolerance: 1e300, Queue: math.MaxInt, Smoothing: 1, Long: 1},
	law.Setpoint{},
	law.Setpoint{Budget: 300 * ms},
	law.Setpoint{Budget: 1},
	law.Setpoint{Budget: math.MaxInt64},
	law.Vegas{},
	law.Vegas{Alpha: 1e-300, Beta: 1e300, Threshold: 1e-300, Probe: 1e-300},
	law.Little{},
	law.Little{Alpha: 1e300, EMA: 1, Floor: 1e-300, Remeasure: 1, Probe: 1e-300},
	law.PID{},
	law.PID{Signal: law.EWMA, MaxErrorRate: 0.05, Kp: 1e308, Ki: 1e308, Kd: 1e308, Tau: 1},
}

func anyWindow(r *rand.Rand) law.Window {
	count := func() int { return []int{0, 1, r.IntN(100), r.IntN(1 << 29)}[r.IntN(4)] }
	span := func() time.Duration {
		return []time.Duration{0, -1, math.MaxInt64, time.Duration(r.IntN(int(time.Second)))}[r.IntN(4)]
	}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, r.Float64()}
	w := law.Window{
		Elapsed: span(), MinSamples: count(),
		Samples: count(), Failures: count(), Timeouts: count(), Refused: count(),
		Mean: span(), Deviation: span(), Least: span(), EWMA: span(),
		InFlight: odd[r.IntN(len(odd))], Peak: count(), First: count(), Last: count(), Age: span(),
		Waited: count(), QueueWait: span(), Saturated: odd[r.IntN(len(odd))],
	}
	if r.IntN(4) > 0 {
		w.Latencies = law.SortedOf(span(), span(), span())
	}
	return w
}

// For any measurements, a law's answer is an integer limit within the bounds, with a reason in
// finite numbers, and another controller with the same input gives the same answer.
func TestLimitStaysWithinBounds(t *testing.T) {
	for _, l := range everyLaw {
		_, planned := l.(law.Setpoint)
		usual := reflect.ValueOf(l).IsZero() // others have settings beyond all reason
		for _, b := range []law.Bounds{{Min: 3, Max: 50, Initial: 20}, {Min: 1, Max: 1, Initial: 1}, {Min: 100, Max: 1000, Initial: 1000}} {
			r := rand.New(rand.NewPCG(1, 2))
			c, err := l.Controller(b)
			again, errAgain := l.Controller(b)
			if err != nil || errAgain != nil {
				t.Fatalf("%v: %v, %v", l, err, errAgain)
			}
			limit := b.Initial
			for range 5_000 {
				w := anyWindow(r)
				w.Limit, w.Min, w.Max = limit, b.Min, b.Max
				d := c.Next(w)
				if d.Limit != float64(b.Clamp(d.Limit, 0)) {
					t.Fatalf("%v: limit %v from %+v", l, d.Limit, w)
				}
				if sum := d.Reason.Have + d.Reason.Want; math.IsNaN(sum) || math.IsInf(sum, 0) && usual || d.Reason.String() == "" {
					t.Fatalf("%v: reason %+v from %+v", l, d.Reason, w)
				}
				if other := again.Next(w); other != d {
					t.Fatalf("%v: %+v and then %+v", l, d, other)
				}
				if p := d.Next; planned && (p.Interval <= 0 || p.Settle < 0 || p.MaxAge < p.Interval || p.MinSamples <= 0) {
					t.Fatalf("%v: plan %+v from %+v", l, p, w)
				}
				limit = int(d.Limit)
			}
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, l := range everyLaw {
		c, w := start(t, l), latency(500*ms)
		w.Limit, w.Min, w.Max, w.Failures = 100, 1, 200, 50
		if n := testing.AllocsPerRun(100, func() { c.Next(w) }); n != 0 {
			t.Errorf("%v: %v allocations", l, n)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, test := range []struct {
		law  law.Law
		want string
	}{
		{law.Band{Target: -ms}, "law: band: target -1ms out of range: want 0s or more"},
		{law.Band{Tolerance: 1.5}, "law: band: tolerance 1.5 out of range: want 0 to less than 1"},
		{law.Band{Tolerance: math.NaN()}, "law: band: tolerance NaN out of range: want 0 to less than 1"},
		{law.Band{Quantile: math.Inf(1)}, "law: band: quantile +Inf out of range: want 0 to less than 1"},
		{law.Band{Quantile: 1}, "law: band: quantile 1 out of range: want 0 to less than 1"},
		{law.Band{Factor: -0.7}, "law: band: factor -0.7 out of range: want 0 to less than 1"},
		{law.Band{MaxErrorRate: 5}, "law: band: max_error_rate 5 out of range: want 0 to less than 1"},
		{law.Band{Step: -1}, "law: band: step -1 out of range: want 0 or more"},
		{law.Band{MaxCut: -1}, "law: band: max_cut -1 out of range: want 0 or more"},
		{law.Band{MinSamples: -1}, "law: band: min_samples -1 out of range: want 0 or more"},
		{law.Band{Ceiling: -1}, "law: band: ceiling -1ns out of range: want 0s or more"},
		{law.Band{Cooldown: -1}, "law: band: cooldown -1ns out of range: want 0s or more"},
		{law.Band{Signal: 950}, "law: band: signal p95 out of range: want quantile, ewma or queue_wait"},
		{law.Fixed{Limit: -1}, "law: fixed: limit -1 out of range: want 0 or more"},
		{law.AIMD{Backoff: 1}, "law: aimd: backoff 1 out of range: want 0 to less than 1"},
		{law.AIMD{Timeout: -1}, "law: aimd: timeout -1ns out of range: want 0s or more"},
		{law.Gradient{Tolerance: 0.5}, "law: gradient: tolerance 0.5 out of range: want 1 or more"},
		{law.Gradient{Remeasure: -1}, "law: gradient: remeasure -1 out of range: want 0 or more"},
		{law.Gradient2{Smoothing: 2}, "law: gradient2: smoothing 2 out of range: want 0 to 1"},
		{law.Gradient2{Tolerance: math.NaN()}, "law: gradient2: tolerance NaN out of range: want 1 or more"},
		{law.Vegas{Probe: math.Inf(1)}, "law: vegas: probe +Inf out of range: want 0 or more"},
		{law.Vegas{Alpha: 7}, "law: vegas: alpha 7 out of range: want 0 to beta, 6"},
		{law.Little{EMA: -0.1}, "law: little: ema -0.1 out of range: want 0 to 1"},
		{law.Little{Probe: 1}, "law: little: probe 1 out of range: want 0 to less than 1"},
		{law.PID{Ki: -1}, "law: pid: ki -1 out of range: want 0 or more"},
		{law.PID{Signal: law.QueueWait}, "law: pid: signal queue wait out of range: want quantile or ewma"},
		{
			law.Band{Signal: law.QueueWait},
			"law: band: signal queue_wait needs ceiling or max_error_rate: nothing else would ever cut the limit",
		},
	} {
		c, err := test.law.Controller(law.Bounds{Min: 1, Max: 9, Initial: 5})
		if c != nil || !errors.Is(err, law.ErrConfig) || err.Error() != test.want {
			t.Errorf("%+v: %v, %v\nwant %s", test.law, c, err, test.want)
		}
	}
}
