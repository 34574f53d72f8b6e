package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A bench shows a law with a no-load latency of 50 ms windows in which the limit was reached.
type bench struct {
	control law.Controller
	limit   int
	now     time.Time
	blind   bool // there is no wall clock
}

func newBench(t *testing.T) *bench {
	t.Helper()
	bounds := law.Bounds{Min: 1, Max: 1000, Initial: 20}
	resumed := law.Resume(law.Setpoint{}, law.Knowledge{Limit: 20, NoLoad: 50 * ms})
	return &bench{control: must.Have(resumed.Controller(bounds))(t), limit: 20, now: time.Unix(1e9, 0)}
}

// show shows a window in which as much ended as belongs to the latency by Little's law.
func (b *bench) show(latency, elapsed time.Duration) law.Decision {
	b.now = b.now.Add(elapsed)
	done := int(time.Duration(b.limit) * elapsed / latency)
	closed := b.now
	if b.blind {
		closed = time.Time{}
	}
	d := b.control.Next(law.Window{
		Limit: b.limit, Min: 1, Max: 1000, Elapsed: elapsed, Closed: closed,
		Samples: done, Weight: done, Waited: done, Mean: latency, Sojourn: latency, Deviation: latency / 10,
		InFlight: float64(b.limit), Peak: b.limit, First: b.limit, Last: b.limit,
	})
	b.limit = int(d.Limit)
	return d
}

// probe shows windows of the latency until the law lowers the limit at a tick.
func (b *bench) probe(latency time.Duration) time.Time {
	for b.show(latency, time.Second).Reason.Code != law.Probing {
	}
	return b.now
}

func (b *bench) noLoad() time.Duration { return law.Learned(b.control, b.limit).NoLoad }

// Little work shows a latency up to its standard error. A step before may have shown a lower one.
func TestProbeOfLittleWork(t *testing.T) {
	b := newBench(t)
	b.probe(80 * ms)
	b.show(90*ms, 30*ms)
	if got := b.noLoad(); got < 60*ms || got > 90*ms {
		t.Errorf("a no-load latency of %v, want somewhat less than 90 ms", got)
	}

	b = newBench(t)
	b.probe(80 * ms)
	if d := b.show(40*ms, time.Second); d.Reason.Code != law.Probing {
		t.Fatalf("%v, want a deeper step", d)
	}
	b.show(90*ms, 60*ms)
	if got := b.noLoad(); got > 50*ms {
		t.Errorf("a no-load latency of %v, and 40 ms was seen", got)
	}
}

// A raised no-load latency needs a deeper probe at a tick of all limiters, and one is enough.
func TestRaisedLatencyIsDoubted(t *testing.T) {
	b := newBench(t)
	b.probe(80 * ms)
	for b.show(80*ms, time.Second).Reason.Code == law.Probing {
	}
	raised := b.noLoad()
	if raised < 75*ms {
		t.Fatalf("a no-load latency of %v, want 80 ms", raised)
	}
	deeper := 0
	for range 12 {
		at := b.probe(raised * 8 / 5)
		d := b.show(raised, time.Second)
		if d.Reason.Code == law.Probing {
			if deeper++; at.Unix()%16 > 1 {
				t.Errorf("a deeper probe at %d", at.Unix())
			}
		}
		for d.Reason.Code == law.Probing {
			d = b.show(raised, time.Second)
		}
	}
	if deeper != 1 {
		t.Errorf("%d deeper probes, want 1", deeper)
	}
}

// Work may become ten times as slow at once. Without a wall clock that may be a share of the queue.
func TestProbeOfMuchSlowerWork(t *testing.T) {
	for name, want := range map[string]time.Duration{"common ticks": 500 * ms, "ticks of its own": 65 * ms} {
		b := newBench(t)
		b.blind = name != "common ticks"
		b.probe(80 * ms)
		for b.show(500*ms, time.Second).Reason.Code == law.Probing {
		}
		if got := b.noLoad(); got < want*9/10 || got > want*11/10 {
			t.Errorf("%s: a no-load latency of %v, want about %v", name, got, want)
		}
	}
}
