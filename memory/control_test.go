package memory

import (
	"testing"
	"time"
)

const mib = 1 << 20

// steady is the decision on the same reading after a while.
func steady(c *control, r reading, during time.Duration) (d decision) {
	for end := r.at + during; r.at <= end; r.at += period {
		if d = c.step(r); d.collect {
			r.collected++
		}
	}
	return d
}

func TestLimitLeavesATenthAndWhatIsOffHeap(t *testing.T) {
	c := control{target: 1000 * mib}
	if d := c.step(reading{anonymous: 300 * mib, runtime: 200 * mib}); d.limit != 800*mib {
		t.Errorf("limit %d MiB, want 0.9 of 1000 less 100 off-heap", d.limit/mib)
	}
	if d := c.step(reading{anonymous: 100 * mib, runtime: 200 * mib}); d.limit != 900*mib {
		t.Errorf("limit %d MiB: memory that the runtime has not touched is not below nothing", d.limit/mib)
	}
	if d := c.step(reading{anonymous: 5000 * mib}); d.limit != 0 {
		t.Errorf("limit %d", d.limit)
	}
	if d := c.step(reading{live: 950 * mib}); d.limit != 1000*mib {
		t.Errorf("limit %d MiB where the store needs more: want a twentieth for garbage, or the collector runs without end", d.limit/mib)
	}
}

func TestGarbageMakesRoomForMappedFiles(t *testing.T) {
	for _, test := range []struct{ live, want int64 }{
		{100, 750}, // 0.15 of the target
		{520, 800}, // leaves the room of a whole budget
		{700, 900},
	} {
		c := control{target: 1000 * mib, files: true}
		d := c.step(reading{live: uint64(test.live) * mib})
		if d.limit/mib != test.want {
			t.Errorf("%d MiB live: limit %d MiB, want %d", test.live, d.limit/mib, test.want)
		}
		without := control{target: 1000 * mib}
		if w := without.step(reading{live: uint64(test.live) * mib}); w.budget != d.budget || w.load != d.load {
			t.Errorf("%d MiB live: a budget of %d and a load of %v, want %d and %v, as without files", test.live, d.budget, d.load, w.budget, w.load)
		}
	}
}

func TestCollectsAtTheLeastBudgetOnceASecond(t *testing.T) {
	c := control{target: 1000 * mib}
	count := func(r reading, during time.Duration) (n int) {
		for end := r.at + during; r.at < end; r.at += period {
			if c.step(r).collect {
				n++
			}
		}
		return n
	}
	full := reading{at: 10 * time.Second, live: 900 * mib, collected: 7}
	if n := count(full, 900*time.Millisecond); n != 0 {
		t.Errorf("%d collections within a second of the program's own", n)
	}
	full.at += time.Second
	if n := count(full, 5*time.Second); n != 5 {
		t.Errorf("%d collections in 5 s, want 5", n)
	}
	roomy := reading{at: 20 * time.Second, live: 100 * mib, collected: 7}
	if n := count(roomy, 5*time.Second); n != 0 {
		t.Errorf("%d collections with room", n)
	}
}

func TestTargetTooSmallIsNotTheWorkInFlight(t *testing.T) {
	full := reading{live: 900 * mib}
	c := control{target: 1000 * mib}
	if d := steady(&c, full, 2900*time.Millisecond); d.short {
		t.Error("said before 3 s")
	}
	c = control{target: 1000 * mib}
	d := steady(&c, full, 5*time.Second) // the first collection after one second
	if !d.short || d.least < 1111*mib || d.least > 1112*mib {
		t.Errorf("got %+v, want a target of 900/0.9/0.9 MiB or more", d)
	}
	again := control{target: d.least}
	if d := again.step(full); d.short || d.budget < leastBudget {
		t.Errorf("with the least target: %+v", d)
	}
	full.inFlight = 100 * mib // one long line, and its parsed form
	busy := control{target: 1000 * mib}
	if d := steady(&busy, full, time.Minute); d.short {
		t.Error("the store was blamed for what is in flight")
	}
	roomy := reading{at: time.Minute, live: 100 * mib}
	if d := steady(&c, roomy, time.Second); !d.short {
		t.Error("a second of room is no proof")
	}
	if d := steady(&c, roomy, 20*time.Second); d.short || d.least > 130*mib {
		t.Errorf("there is room again: %+v", d)
	}
}

// swinging is when it is said of a store whose need swings, as it compacts, on a machine on which a
// step takes so long.
func swinging(need uint64, share float64, step time.Duration) time.Duration {
	c := control{target: 1000 * mib}
	r := reading{}
	for ; r.at < time.Minute; r.at += step {
		was := r.live
		if r.live = 300 * mib; float64(r.at%(2*time.Second)) < share*float64(2*time.Second) {
			r.live = need
		}
		if r.live != was {
			r.collected++
		}
		if d := c.step(r); d.short {
			return r.at
		} else if d.collect {
			r.collected++
		}
	}
	return 0
}

func TestTargetTooSmallNowAndThen(t *testing.T) {
	for _, test := range []struct {
		name  string
		need  uint64
		share float64
		step  time.Duration
		least time.Duration
		most  time.Duration
	}{
		{"no room, half of the time", 900 * mib, 0.5, period, 3 * time.Second, 10 * time.Second},
		{"above the target, a quarter of the time", 1100 * mib, 0.25, period, time.Second, 10 * time.Second},
		{"above the target, on a busy machine", 1100 * mib, 0.5, 500 * time.Millisecond, time.Second, 10 * time.Second},
	} {
		if got := swinging(test.need, test.share, test.step); got < test.least || got > test.most {
			t.Errorf("%s: said after %v, want %v to %v", test.name, got, test.least, test.most)
		}
	}
	if got := swinging(900*mib, 0.1, period); got != 0 {
		t.Errorf("said after %v of a store that has room for nine tenths of the time", got)
	}
}

// A process that was stopped for a minute was not without room for a minute.
func TestTimeThatNoStepSaw(t *testing.T) {
	c := control{target: 1000 * mib}
	full := reading{live: 900 * mib}
	c.step(full)
	full.at, full.collected = time.Second, 1
	c.step(full)
	full.at, full.collected = time.Minute, 2
	if d := c.step(full); d.short {
		t.Error("said after two steps")
	}
}

func TestTargetThatIsExceeded(t *testing.T) {
	over := reading{anonymous: 1200 * mib, runtime: 1200 * mib, live: 500 * mib, inFlight: 10 * mib}
	c := control{target: 1000 * mib}
	if d := steady(&c, over, 1100*time.Millisecond); !d.short || d.least != 1200*mib {
		t.Errorf("%+v, want that 1200 MiB are needed", d)
	}
	over.at, over.anonymous = 2*time.Second, 1100*mib
	if d := steady(&c, over, time.Second); d.least != 1200*mib {
		t.Errorf("%+v, want the most that was needed", d)
	}
	over.at, over.anonymous = 0, 1200*mib
	over.inFlight = 200 * mib
	c = control{target: 1000 * mib}
	if d := steady(&c, over, time.Minute); d.short {
		t.Error("the store was blamed for a long line")
	}
}

// fake is a Go process with a store, for the control: work in flight makes garbage in proportion to
// its bytes, and a collection is due when the heap has doubled or the memory limit is reached.
type fake struct {
	store   float64 // live bytes of the store
	offHeap float64
	factor  float64 // live bytes for each byte in flight
	garbage float64 // bytes allocated for each byte that is done
	rate    float64 // bytes per second that the store takes, if enough are in flight
	growth  float64 // of the store, live bytes per second

	at          time.Duration
	heap, live  float64
	peakHeap    float64 // of the runtime: it returns memory above the limit only
	collections uint64
	inFlight    float64
	done        float64
	limit       float64
}

// latency is that of one write: in flight are rate x latency bytes when the store is the
// bottleneck.
const latency = 5 * time.Millisecond

func (p *fake) step(d decision) {
	p.limit = float64(d.limit)
	p.store += p.growth * period.Seconds()
	p.inFlight = min(float64(d.budget), 64*10_000) // 64 workers, lines of 10 KB
	done := min(p.rate, p.inFlight/latency.Seconds()) * period.Seconds()
	p.done += done
	held := p.store + p.factor*p.inFlight
	p.heap += done * p.garbage
	for p.heap = max(p.heap, held); p.heap > max(held, min(2*p.live, p.limit)); {
		p.collections++
		p.live = held
		p.heap = held
	}
	p.peakHeap = max(min(p.peakHeap, p.limit), p.heap) // the limit has the runtime return memory
	if d.collect {
		p.collections++
		p.live, p.heap = held, held
	}
	p.at += period
}

func (p *fake) reading() reading {
	return reading{
		at: p.at, anonymous: uint64(p.peakHeap + p.offHeap), resident: uint64(p.peakHeap + p.offHeap),
		runtime: uint64(p.peakHeap), live: uint64(p.live), collected: p.collections, inFlight: int64(p.inFlight),
	}
}

// run lets the process run under a target and returns the most anonymous memory, and the work done
// in a second.
func (p *fake) run(target uint64, during time.Duration) (most, rate float64, said time.Duration) {
	c := control{target: target}
	for p.at < during {
		d := c.step(p.reading())
		if d.short && said == 0 {
			said = p.at
		}
		p.step(d)
		most = max(most, p.peakHeap+p.offHeap)
	}
	return most, p.done / p.at.Seconds(), said
}

func TestSimulatedProcessStaysInsideItsTarget(t *testing.T) {
	for _, store := range []float64{0, 0.1, 0.3, 0.5} { // of the target
		for _, offHeap := range []float64{0, 0.1, 0.2} {
			for _, factor := range []float64{1, 10} {
				for _, target := range []float64{64 * mib, 256 * mib, 1500 * mib, 20_000 * mib} {
					p := &fake{store: store * target, offHeap: offHeap * target, factor: factor, garbage: 8, rate: 50e6}
					if p.store+factor*64*10_000 > (1-fullRoom)*(limitShare*target-p.offHeap) {
						continue // no room for all that would be in flight
					}
					most, rate, said := p.run(uint64(target), time.Minute)
					if most > target || rate < 0.9*p.rate || said != 0 {
						t.Errorf("store %v, off-heap %v, factor %v of a target of %.0f MiB: took %.0f MiB, %.2f of the rate, said too small at %v",
							store, offHeap, factor, target/mib, most/mib, rate/p.rate, said)
					}
				}
			}
		}
	}
}

// A store that grows is blamed within 10 s of the moment in which it outgrows the target, and not
// before there is no room.
func TestSimulatedStoreThatOutgrowsTheTarget(t *testing.T) {
	for _, growth := range []float64{0.005, 0.02, 0.1, 1} { // of the target, a second
		p := &fake{growth: growth * 256 * mib, factor: 1, garbage: 8, rate: 50e6}
		_, _, said := p.run(256*mib, 250*time.Second)
		outgrown := time.Duration(float64(time.Second) / growth)
		noRoom := time.Duration((1 - leastRoom) * limitShare * float64(outgrown))
		if said < noRoom || said > outgrown+10*time.Second {
			t.Errorf("%v of the target a second: said at %v, want %v to %v", growth, said, noRoom, outgrown+10*time.Second)
		}
	}
}

// Work that takes far more memory than its bytes is held back, and continues.
func TestSimulatedWorkThatBloats(t *testing.T) {
	p := &fake{factor: 340, garbage: 8, rate: 50e6}
	most, rate, said := p.run(256*mib, time.Minute)
	if most > 256*mib || rate == 0 || said != 0 {
		t.Errorf("took %.0f MiB, %.0f bytes/s, said too small at %v", most/mib, rate, said)
	}
}
