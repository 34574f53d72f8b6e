package law_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// adaptive has the laws that learn from the latency. Each also has a version with its times
// ten times as long and its rates per second a tenth.
var adaptive = []struct{ law, slow law.Law }{
	{law.AIMD{Timeout: 60 * ms}, law.AIMD{Timeout: 600 * ms}},
	{law.Gradient{Remeasure: 40}, law.Gradient{Remeasure: 40}},
	{law.Gradient{Least: true, Queue: 3}, law.Gradient{Least: true, Queue: 3}},
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
	for _, bad := range []law.Law{
		law.AIMD{Step: -1},
		law.Gradient{Queue: -1},
		law.Gradient2{Long: -1},
		law.Vegas{Alpha: 9},
		law.Little{Probe: 2},
		law.PID{Ki: -1},
	} {
		c := start(t, zero(t, bad))
		before := next(c, 20, second(50*ms))
		if c.(law.Retuner).Retune(bad) {
			t.Errorf("%v: took a bad setting", bad)
		}
		if after := next(start(t, zero(t, bad)), 20, second(50*ms)); before != after {
			t.Errorf("%v: %+v, then %+v", bad, before, after)
		}
	}
}

// zero is the law of the same type with no settings.
func zero(t *testing.T, l law.Law) law.Law {
	t.Helper()
	name, _, _ := strings.Cut(fmt.Sprint(l), "(")
	plain := must.Have(law.Parse(name))(t)
	return plain
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
