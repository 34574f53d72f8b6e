package law

import (
	"github.com/weir-go/weir/internal/knee"
	"github.com/weir-go/weir/internal/portable"
)

// How much the limit moves around its target, in ln N.
const (
	leastSwing = 0.03
	mostSwing  = 0.25

	// upProbe looks for capacity that came back: at the knee latency hardly
	// shows it.
	upProbe = 0.35
	// A downProbe of 0.6 deviations of ln K looks for a knee far below. Small moves
	// above a knee fit any knee below, and a limit that starts in an overload
	// would stay there: 262 to 452 good/s of 500 became 457 to 470.
	downProbe  = 0.6
	leastProbe = 0.25
	mostProbe  = 0.8
	lost       = 0.8 // deviation of ln K from which every probe is downwards

	// Probes are five windows apart after a change, and then ever further, to
	// twenty: variation of the limit 0.18 to 0.15, same score.
	firstProbe = 5
	lastProbe  = 20
	probeGrows = 1.5

	firstSwing = 0.3 // after the server became slower, to learn by how much
)

// dither returns how far to go from the target, and sets the way.
func (k *seeker) dither(b *knee.Belief, e knee.Normal) float64 {
	spread := b.Knee.Deviation()
	doubt := min(spread, e.Deviation())
	swing := min(max(0.25*doubt, leastSwing), mostSwing)
	k.waited++
	if k.waited >= k.every || k.probing {
		k.waited = 0
		k.every = min(k.every*probeGrows, lastProbe)
		switch {
		case k.probing:
			swing, k.way = upProbe, 1
		case !k.down || spread > lost:
			k.down = true
			if doubt > 0.1 || spread > 0.4 {
				swing, k.way = min(max(downProbe*spread, leastProbe), mostProbe), -1
			}
		default:
			k.down, k.probing = false, true
			swing, k.way = upProbe, 1
		}
	}
	if k.windows <= 2 && k.change == knee.LessWork {
		k.probing = false
		swing, k.way = firstSwing, 1
		if k.windows == 1 {
			k.way = -1
		}
	}
	return swing
}

// A test tells a queue from slower work: it cuts the limit and looks whether the throughput
// falls with it.
type test struct {
	base    float64 // latency of the work itself, in seconds; 0 before the first window
	slow    int     // windows in a row with a latency far above
	running bool
	n, x    float64 // before the cut
}

const mostLatency = 3 // times base, beyond which there is a test

// judge takes in a window and reports whether the limit is to be cut for a test.
func (t *test) judge(f flow, elasticity float64) (begin bool) {
	switch {
	case t.running:
		t.running = false
		cut := 1 - f.n/t.n
		if cut > 0.25 && f.x < t.x*(1-float64(0.6*cut)) {
			t.base = max(t.base, f.latency)
		}
	case t.base == 0:
		t.base = f.latency
	case f.latency < t.base:
		t.base = portable.Toward(t.base, f.latency, 0.3)
	case !f.saturated && !f.filling && elasticity > 0.7:
		t.base = portable.Toward(t.base, f.latency, 0.1)
	}
	if f.latency <= mostLatency*t.base || !f.saturated && !f.filling {
		t.slow = 0
		return false
	}
	if t.slow++; t.slow < 2 {
		return false
	}
	t.slow, t.running, t.n, t.x = 0, true, f.n, f.x
	return true
}
