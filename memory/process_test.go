package memory

import (
	"testing"
	"time"
)

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

func TestSimulatedStoreThatNeedsMoreThanTheTarget(t *testing.T) {
	for _, store := range []float64{0.85, 1, 3} {
		p := &fake{store: store * 256 * mib, factor: 1, garbage: 8, rate: 50e6}
		_, rate, said := p.run(256*mib, time.Minute)
		if said == 0 || said > 10*time.Second {
			t.Errorf("store of %v of the target: said at %v, want within 10 s", store, said)
		}
		if rate == 0 {
			t.Errorf("store of %v of the target: stuck", store)
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

// Work that takes far more memory than its bytes is held back, and goes on.
func TestSimulatedWorkThatBloats(t *testing.T) {
	p := &fake{factor: 340, garbage: 8, rate: 50e6}
	most, rate, said := p.run(256*mib, time.Minute)
	if most > 256*mib || rate == 0 || said != 0 {
		t.Errorf("took %.0f MiB, %.0f bytes/s, said too small at %v", most/mib, rate, said)
	}
}
