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

// adaptive has the laws that learn from the latency. Each also has a version with its times
// ten times as long and its rates per second a tenth.
var adaptive = []struct{ law, slow law.Law }{
	{law.AIMD{Timeout: 60 * ms}, law.AIMD{Timeout: 600 * ms}},
	{law.Gradient{Remeasure: 40}, law.Gradient{Remeasure: 40}},
	{law.Gradient{Queue: 3}, law.Gradient{Queue: 3}},
	{law.Gradient2{Long: 20}, law.Gradient2{Long: 20}},
	{law.Vegas{Probe: 1}, law.Vegas{Probe: 1}},
	{law.Little{Remeasure: time.Second}, law.Little{Remeasure: 10 * time.Second}},
	{
		law.PID{Kp: 0.4, Ki: 1, Kd: 0.02, Target: 60 * ms, Tau: 50 * ms},
		law.PID{Kp: 0.4, Ki: 0.1, Kd: 0.2, Target: 600 * ms, Tau: 500 * ms, MaxStep: 10 * time.Second},
	},
}

// plausible is a window as a limiter might measure it, of a server that is sometimes idle and
// sometimes overloaded.
func plausible(r *rand.Rand, limit int) law.Window {
	mean := time.Duration(float64(20*ms) + r.ExpFloat64()*float64(40*ms))
	w := law.Window{
		Elapsed: 50*ms + time.Duration(r.IntN(int(200*ms))), Samples: 20 + r.IntN(200), MinSamples: 20,
		Mean: mean, EWMA: mean, Least: mean / 2, Latencies: law.SortedOf(mean, 2*mean),
		First: r.IntN(limit + 1), InFlight: float64(limit) * r.Float64(), Peak: r.IntN(2 * limit),
	}
	if r.IntN(8) == 0 {
		w.Timeouts = 1 + r.IntN(5)
	}
	if r.IntN(20) == 0 {
		w.Samples = r.IntN(20)
	}
	return w
}

// times makes all times of a window longer.
func times(w law.Window, by time.Duration) law.Window {
	w.Elapsed, w.Mean, w.EWMA, w.Least = by*w.Elapsed, by*w.Mean, by*w.EWMA, by*w.Least
	longer := law.Sorted{}
	for _, d := range w.Latencies.(law.Sorted) {
		longer = append(longer, by*d)
	}
	w.Latencies = longer
	return w
}

func TestTheUnitOfTimeDoesNotMatter(t *testing.T) {
	for _, test := range adaptive {
		r := rand.New(rand.NewPCG(5, 6))
		quick, slow, limit := start(t, test.law), start(t, test.slow), 20
		for i := range 2_000 {
			w := plausible(r, limit)
			a, b := next(quick, limit, w), next(slow, limit, times(w, 10))
			settles := (10*a.Next.Settle - b.Next.Settle).Abs() <= 10
			if a.Limit != b.Limit || a.Reason.Code != b.Reason.Code || !settles {
				t.Fatalf("%v: window %d under %d: %v to %v, ten times as slow %v to %v",
					test.law, i, limit, a.Reason, a.Limit, b.Reason, b.Limit)
			}
			limit = int(a.Limit)
		}
	}
}

// Once the latency without load is known, slower work never leads to a higher limit, unless
// that latency is measured again.
func TestSlowerWorkNeverRaisesTheLimit(t *testing.T) {
	for _, test := range adaptive {
		r := rand.New(rand.NewPCG(7, 8))
		for range 500 {
			a, b, limit := start(t, test.law), start(t, test.law), 1+r.IntN(200)
			show := func(w law.Window) {
				d := next(a, limit, w)
				next(b, limit, w)
				limit = int(d.Limit)
			}
			for range 12 + r.IntN(30) {
				show(plausible(r, limit))
			}
			w := plausible(r, limit)
			slower := times(w, time.Duration(2+r.IntN(3)))
			slower.Elapsed = w.Elapsed
			slower.InFlight *= 2
			x, y := next(a, limit, w), next(b, limit, slower)
			measuring := x.Reason.Code == law.Rebased || x.Reason.Code == law.Probing
			if y.Limit > x.Limit && !measuring {
				t.Fatalf("%v under %d: %v to %v, slower %v to %v",
					test.law, limit, x.Reason, x.Limit, y.Reason, y.Limit)
			}
		}
	}
}

// A limit that was not reached is not raised, except to end a probe.
func TestUnusedLimitIsNotRaised(t *testing.T) {
	for _, test := range adaptive {
		r := rand.New(rand.NewPCG(9, 10))
		c, limit := start(t, test.law), 50
		for range 2_000 {
			w := plausible(r, limit)
			used := w.Peak >= limit
			d := next(c, limit, w)
			if d.Limit > float64(limit) && !used && d.Reason.Code != law.Rebased && d.Reason.Code != law.TooFew {
				t.Fatalf("%v: %v: unused, raised %d to %v", test.law, d.Reason, limit, d.Limit)
			}
			limit = int(d.Limit)
		}
	}
}

// The state survives a retune: with the same settings nothing changes.
func TestRetuneKeepsWhatWasLearned(t *testing.T) {
	for _, test := range adaptive {
		r := rand.New(rand.NewPCG(11, 12))
		a, b, limit := start(t, test.law), start(t, test.law), 20
		for i := range 300 {
			if i%10 == 0 && !b.(law.Retuner).Retune(test.law) {
				t.Fatalf("%v declines itself", test.law)
			}
			w := plausible(r, limit)
			x, y := next(a, limit, w), next(b, limit, w)
			if x != y {
				t.Fatalf("%v: window %d: %+v, retuned %+v", test.law, i, x, y)
			}
			limit = int(x.Limit)
		}
		if b.(law.Retuner).Retune(law.Band{}) {
			t.Errorf("%v takes a Band", test.law)
		}
	}
	c, fresh := start(t, law.AIMD{}), start(t, law.AIMD{})
	if c.(law.Retuner).Retune(law.AIMD{Timeout: ms, Step: -1}) {
		t.Error("took a bad setting")
	}
	if got, want := next(c, 20, average(50*ms)), next(fresh, 20, average(50*ms)); got != want {
		t.Errorf("after a bad setting %+v, want %+v", got, want)
	}
}

// Measurements that are not finite do not poison the state: after steady windows, the last is
// judged by finite figures and leads to a limit in use.
func TestNonFiniteWindowsDoNotPoison(t *testing.T) {
	for _, test := range adaptive {
		r := rand.New(rand.NewPCG(13, 14))
		c, limit := start(t, test.law), 20
		for range 3_000 {
			w := plausible(r, limit)
			if r.IntN(3) == 0 {
				odd := anyWindow(r)
				w.InFlight, w.Saturated = odd.InFlight, odd.Saturated
			}
			limit = int(next(c, limit, w).Limit)
		}
		var d law.Decision
		for range 400 {
			w := second(30 * ms)
			w.Mean, w.Least, w.InFlight = 30*ms, 30*ms, 3
			d = next(c, limit, w)
			limit = int(d.Limit)
		}
		if !(d.Reason.Have >= 0 && d.Reason.Want >= 0 && d.Reason.Have+d.Reason.Want < 10) || limit < 3 {
			t.Errorf("%v: limit %d, %+v", test.law, limit, d.Reason)
		}
	}
}

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
	law.Gradient{Remeasure: 3, Tolerance: 1e300, Queue: math.MaxInt, Smoothing: 1},
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
// finite numbers if it changes, and another controller with the same input gives the same answer.
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
				if d.Reason == (law.Reason{}) && d.Limit != float64(limit) {
					t.Fatalf("%v: no reason for %d to %v from %+v", l, limit, d.Limit, w)
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
