package law

import (
	"math"

	"github.com/weir-go/weir/internal/knee"
)

// A keptSeeker is a seeker between two decisions. A service may hold a hundred thousand, and
// numbers of 64 bits would take the next size of the heap, 896 bytes instead of 768. Those with a
// unit of time have 64 bits all the same, because in 32 they would be rounded otherwise in another
// unit.
type keptSeeker struct {
	tracker knee.Tracker

	pulse pulse
	unit  float64

	variation, used, peak, target float32
	waited, every                 float32

	windows       int32
	change        knee.Change
	way           int8
	probing, down bool

	test keptTest
	ebb  keptEbb
}

type keptTest struct {
	base, x float64
	n       float32
	slow    int16
	running bool
}

type keptEbb struct {
	schedule schedule

	latency            float64 // of the base
	area, span         float64 // of its reference
	work, done         float32
	fromX, fromLatency float64
	fromN, fromDone    float32
	resume             float32
	theta              float32
	ceiling, over      float32
	odds               float32
	reached, pressed   float32
	ebbs               int16
	stage              stage
	known              bool
}

// seeker returns the seeker as it decides, which shares the tracker.
func (s *keptSeeker) seeker() seeker {
	return seeker{
		tracker: &s.tracker, pulse: s.pulse, unit: s.unit,
		variation: float64(s.variation), used: float64(s.used), peak: float64(s.peak), target: float64(s.target),
		waited: float64(s.waited), every: float64(s.every), windows: int(s.windows),
		change: s.change, way: float64(s.way), probing: s.probing, down: s.down,
		test: s.test.test(), ebb: s.ebb.ebb(),
	}
}

// keep takes over what a seeker learned.
func (s *keptSeeker) keep(k *seeker) {
	*s = keptSeeker{
		tracker: *k.tracker, pulse: k.pulse, unit: k.unit,
		variation: float32(k.variation), used: float32(k.used), peak: float32(k.peak), target: float32(k.target),
		waited: float32(k.waited), every: float32(k.every), windows: int32(min(k.windows, math.MaxInt32)),
		change: k.change, way: int8(k.way), probing: k.probing, down: k.down,
		test: keepTest(k.test), ebb: keepEbb(k.ebb),
	}
}

func (t keptTest) test() test {
	return test{base: t.base, slow: int(t.slow), running: t.running, n: float64(t.n), x: t.x}
}

func keepTest(t test) keptTest {
	return keptTest{base: t.base, slow: int16(t.slow), running: t.running, n: float32(t.n), x: t.x}
}

func (e *keptEbb) ebb() ebb {
	return ebb{
		stage: e.stage, resume: float64(e.resume), ebbs: int(e.ebbs),
		from: point{n: float64(e.fromN), x: e.fromX, latency: e.fromLatency, done: float64(e.fromDone)},
		base: base{
			latency: e.latency, known: e.known,
			reference: sums{area: e.area, work: float64(e.work), span: e.span, done: float64(e.done)},
		},
		theta: float64(e.theta), ceiling: float64(e.ceiling), over: float64(e.over), schedule: e.schedule,
		sharing: evidence{float64(e.odds)}, reached: float64(e.reached), pressed: float64(e.pressed),
	}
}

func keepEbb(e ebb) keptEbb {
	ref := e.base.reference
	return keptEbb{
		stage: e.stage, resume: float32(e.resume), ebbs: int16(min(e.ebbs, math.MaxInt16)),
		fromN: float32(e.from.n), fromX: e.from.x, fromLatency: e.from.latency, fromDone: float32(e.from.done),
		latency: e.base.latency, known: e.base.known,
		area: ref.area, work: float32(ref.work), span: ref.span, done: float32(ref.done),
		theta: float32(e.theta), ceiling: float32(e.ceiling), over: float32(e.over), schedule: e.schedule,
		odds: float32(e.sharing.odds), reached: float32(e.reached), pressed: float32(e.pressed),
	}
}
