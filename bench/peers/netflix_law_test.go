package peers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// A round holds the measurements of one window.
type round struct {
	latency  time.Duration
	inflight int // the peak
	dropped  bool
}

// TestNetflixLaws feeds the same windows to our laws and to Netflix's classes, and expects
// the same limits. They may differ by a slot: our laws round up a limit that is below an
// integer only by a rounding error. Neither remeasures its minimum latency, because Netflix
// does that at random times. No limit is used by half to all: there Netflix raises it and we
// do not.
func TestNetflixLaws(t *testing.T) {
	if *java == "" {
		t.Skip("needs -java=../java")
	}
	m := startMachine(t, *java)
	for _, c := range []struct {
		law  law.Law
		kind int32
	}{
		{law.Gradient{Remeasure: math.MaxInt32}, netflixGradient},
		{law.Gradient2{}, netflixGradient2},
		{law.Vegas{Probe: 1e9}, netflixVegas},
		{law.AIMD{}, netflixAIMD},
	} {
		for _, drops := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/drops=%v", c.law, drops), func(t *testing.T) {
				same, most := compare(t, m, c.law, c.kind, drops)
				t.Logf("%d of %d limits are the same, the others differ by %d at most", same, windows, most)
				if most > 1 || same < windows*9/10 {
					t.Errorf("%v is not Netflix's: want at least 90%% of the limits the same, and none to differ by more than 1", c.law)
				}
			})
		}
	}
}

const windows = 10_000

// compare returns the number of windows after which both limits are the same, and the
// largest difference between them.
func compare(t *testing.T, m *machine, l law.Law, kind int32, drops bool) (same, most int) {
	bounds := sim.Limiter{Min: 1, Max: 500, Initial: 20}
	ours, err := l.Controller(law.Bounds{Min: bounds.Min, Max: bounds.Max, Initial: bounds.Initial})
	if err != nil {
		t.Fatal(err)
	}
	id := m.make(kind, 0, false, bounds)
	random := rand.New(rand.NewPCG(1, 0))
	limit := bounds.Initial
	for n := range windows {
		r := drawRound(random, n, limit, drops)
		limit = int(ours.Next(r.window(bounds, limit)).Limit)
		theirs := m.sample(id, time.Duration(n)*time.Second, r.latency, r.inflight, r.dropped)
		if limit == theirs {
			same++
		}
		most = max(most, limit-theirs, theirs-limit)
	}
	return same, most
}

// drawRound draws work of 10 ms, which slows down to 20 and 100 ms, and a limit that is used
// fully or by less than half.
func drawRound(random *rand.Rand, n, limit int, drops bool) round {
	scale := []float64{1, 2, 1, 10}[n/500%4]
	r := round{latency: time.Duration(scale * (0.9 + 0.4*random.Float64()) * float64(10*time.Millisecond)), inflight: limit}
	if random.IntN(10) == 0 {
		r.inflight = max(0, limit/2-1)
	}
	r.dropped = drops && random.IntN(20) == 0
	return r
}

// window returns the window that our limiter would have measured: a hundred pieces of work,
// of which at most one timed out.
func (r round) window(b sim.Limiter, limit int) law.Window {
	const samples = 100
	w := law.Window{
		Limit: limit, Min: b.Min, Max: b.Max, MinSamples: 10, Samples: samples, Peak: r.inflight,
		Elapsed: time.Second, Mean: r.latency, InFlight: samples * r.latency.Seconds(),
	}
	if r.dropped {
		w.Timeouts = 1
	}
	return w
}
