package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// probes shows good windows until the law lowers the limit to measure, and returns when it did.
func (p *pilot) probes(t *testing.T) time.Time {
	t.Helper()
	p.probe(t)
	return p.now
}

// Two limiters that started at different moments and measure other latencies probe at the same
// ticks of the wall clock.
func TestSetpointProbesAtCommonTicks(t *testing.T) {
	one := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	other := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 200})
	other.now = other.now.Add(1300 * ms)
	for range 3 {
		first, second := one.probes(t), other.probes(t)
		for first.Sub(second).Abs() > time.Second && first.Before(second) {
			first = one.probes(t)
		}
		for second.Sub(first).Abs() > time.Second && second.Before(first) {
			second = other.probes(t)
		}
		if apart := first.Sub(second).Abs(); apart > 250*ms {
			t.Errorf("the probes are %v apart: %v and %v", apart, first, second)
		}
		one.fly(t, 2*time.Second)
		other.fly(t, 2*time.Second)
	}
}

// A probe is deepened until less concurrency lowers the latency no further: the server takes
// 50 ms, and the limiter begins with 400 ms of work before it.
func TestSetpointLooksForTheNoLoadLatency(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 400})
	lowest, steps := p.limit, 0
	for range 2000 {
		before := p.limit
		d := p.show(t, p.window())
		if d.Reason.Code == law.Probing && p.limit < before {
			steps++
		}
		if d.Reason.Code == law.Rebased {
			break
		}
		lowest = min(lowest, p.limit)
	}
	if steps < 2 || lowest > 60 {
		t.Errorf("%d steps, down to %d: want at least two, to 60 or below", steps, lowest)
	}
	p.steers(t)
}

// A few pieces of long work hold most of the slots, beside quick work. A probe would show the quick
// work only, and the end of some long work is no queue.
func TestSetpointBesideLongWork(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	p.fly(t, 30*time.Second)
	p.probes(t)
	p.fly(t, time.Second)
	for begun := p.now; p.now.Sub(begun) < 20*time.Second; {
		w := p.window()
		w.Samples, w.Refused, w.Mean, w.Sojourn = w.Samples/3, 0, 50*ms, 3*w.Sojourn
		w.Weight = w.Samples
		if d := p.show(t, w); d.Reason.Code == law.Probing {
			t.Fatalf("a probe after %v", p.now.Sub(begun))
		}
	}
	before, w := p.limit, p.window()
	w.Mean, w.Sojourn = 110*ms, 110*ms
	if p.show(t, w); p.limit < before {
		t.Errorf("long work that ends lowers the limit from %d to %d", before, p.limit)
	}
}

// The latency of work that ends after its server hung says nothing of how long a probe must wait.
func TestSetpointProbesSoonAfterAHang(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	p.fly(t, 30*time.Second)
	for range 1000 {
		w := p.window()
		w.Samples, w.Mean, w.Sojourn = max(2, w.Samples/50), 20*time.Second, 20*time.Second
		w.Weight = w.Samples
		if d := p.show(t, w); d.Reason.Code == law.Probing {
			if d.Next.Settle > 1500*ms {
				t.Errorf("the probe waits for %v", d.Next.Settle)
			}
			return
		}
	}
	t.Error("no probe")
}

// Work that becomes slower leaves the limit where it was, once a cut has not helped.
func TestSetpointHoldsTheLimitOfSlowerWork(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	before := p.fly(t, 30*time.Second)
	slower := func(w law.Window) law.Window {
		w.Mean, w.Sojourn = 6*w.Mean, 6*w.Sojourn
		w.Samples = max(2, w.Samples/6)
		w.Weight = w.Samples
		return w
	}
	sum := 0
	for i := range 40 {
		if p.show(t, slower(p.window())); i >= 20 {
			sum += p.limit
		}
	}
	if mean := float64(sum) / 20; mean < before/3 {
		t.Errorf("the limit fell from %.0f to %.0f", before, mean)
	}
}

// A server that loses four fifths of its workers builds a queue, which each cut shortens: the limit
// falls without a probe.
func TestSetpointCutsTheQueueOfFewerWorkers(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	p.fly(t, 30*time.Second)
	p.probe(t)
	p.fly(t, time.Second)
	for range 5 {
		w := p.window()
		w.Samples = max(2, int(200*w.Elapsed.Seconds()))
		w.Weight = w.Samples
		w.Mean = time.Duration(max(p.limit, 10)) * time.Second / 200
		w.Sojourn = w.Mean
		p.show(t, w)
	}
	if p.limit > 35 {
		t.Errorf("a limit of %d before ten workers", p.limit)
	}
}

// The first few pieces of work were quick by chance. At a few slots too little ends for a probe.
func TestSetpointLeavesALowLimit(t *testing.T) {
	for _, slots := range []int{1, 3} {
		l := law.Resume(law.Setpoint{}, law.Knowledge{Limit: slots, NoLoad: 250 * ms})
		c := must.Have(l.Controller(law.Bounds{Min: 1, Max: 1000, Initial: slots}))(t)
		w := law.Window{Limit: slots, Min: 1, Max: 1000, Elapsed: 12 * time.Second, Mean: time.Second, Deviation: time.Second, Closed: time.Unix(1e9, 0)}
		for range 100 {
			n := w.Limit
			w.Samples, w.Weight, w.Waited, w.InFlight, w.Peak, w.First, w.Last = 12*n, 12*n, 12*n, float64(n), n, n, n
			w.Closed = w.Closed.Add(w.Elapsed)
			w.Limit = int(c.Next(w).Limit)
		}
		if w.Limit < 20 {
			t.Errorf("from %d slots: a limit of %d for a server with room", slots, w.Limit)
		}
	}
}

// Six workers end little, so that a probe of them takes long.
func TestSetpointProbesFewWorkersLess(t *testing.T) {
	for workers, want := range map[float64]int{50: 16, 6: 8} {
		p, probes := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20}), 0
		p.workers = workers
		p.fly(t, 10*time.Second)
		for until := p.now.Add(64 * time.Second); p.now.Before(until); probes++ {
			p.probe(t)
			p.fly(t, 3*time.Second)
		}
		if probes != want {
			t.Errorf("%v workers: %d probes in 64 s, want %d", workers, probes, want)
		}
	}
}

// A limiter that has just started doubles its limit, and leaves it once nothing is held back.
func TestSetpointClimbs(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: law.Start(law.Setpoint{})})
	for _, want := range []int{8, 16, 32} {
		if p.show(t, p.window()); p.limit < want {
			t.Fatalf("limit %d, want at least %d", p.limit, want)
		}
	}
	w := p.window()
	w.Refused, w.Waited = 0, 0
	before := p.limit
	if p.show(t, w); p.limit != before {
		t.Errorf("%d became %d though nothing was held back", before, p.limit)
	}
}

// Each move can be switched off, and the law then still answers.
func TestSetpointWithoutAMove(t *testing.T) {
	for _, form := range law.Forms() {
		if form.Name != "setpoint" {
			continue
		}
		for _, name := range []string{"climb", "burst", "fail", "tick", "look", "hold"} {
			p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
			p.replace(t, law.Setpoint{Without: name})
			if mean := p.fly(t, 30*time.Second); mean < 20 {
				t.Errorf("without %s the limit is %.1f", name, mean)
			}
		}
	}
	if _, err := (law.Setpoint{Without: "steer"}).Controller(law.Bounds{Min: 1, Max: 2, Initial: 1}); err == nil {
		t.Error("a move that the law needs was switched off")
	}
}

// If the configuration gives the initial limit, long work starts there too, and otherwise
// with 20.
func TestSetpointStartsLongWork(t *testing.T) {
	for initial, want := range map[int]float64{law.Start(law.Setpoint{}): 20, 2: 2, 50: 50} {
		b := law.Bounds{Min: 1, Max: 100, Initial: initial}
		c := must.Have(law.Setpoint{}.Controller(b))(t)
		w := law.Window{Limit: initial, Min: 1, Max: 100, Elapsed: 5 * time.Second, InFlight: 1, Peak: 1, First: 1, Last: 1, Age: 5 * time.Second}
		if d := c.Next(w); d.Limit != want {
			t.Errorf("from %d: %v, want %v", initial, d.Limit, want)
		}
	}
}

// A start with long work looks for the no-load latency before it climbs, for an overload has long
// latencies too. Four slots of work that takes seconds show little, so that climbs to 20 at first.
func TestSetpointClimbsBeforeItLooksAtWorkOfSeconds(t *testing.T) {
	for latency, atLeast := range map[time.Duration]int{time.Second / 2: 4, 2 * time.Second: 16} {
		c, limit, code := start(t, law.Setpoint{}), law.Start(law.Setpoint{}), law.ReasonCode(0)
		for code != law.Probing && limit < 100 {
			d := c.Next(law.Window{
				Limit: limit, Min: 1, Max: 1000, Elapsed: 3 * latency, Samples: 3 * limit, Refused: 100,
				Mean: latency, Sojourn: latency, Deviation: latency / 2,
				InFlight: float64(limit), Peak: limit, First: limit, Last: limit,
			})
			if code = d.Reason.Code; code != law.Probing {
				limit = int(d.Limit)
			}
		}
		if limit < atLeast || limit > 20 {
			t.Errorf("work of %v looks at a limit of %d, want %d to 20", latency, limit, atLeast)
		}
	}
}

// Each probe that finds a queue lowers the target latency, in no-load latencies. It is high again
// once the work became slower: the new no-load latency may be wrong.
func TestSetpointLowersItsTargetByProbes(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	tolerance := func(slower int) float64 {
		for noLoad := 0.0; ; {
			w := p.window()
			w.Samples, w.Mean, w.Sojourn = w.Samples/slower, time.Duration(slower)*w.Mean, time.Duration(slower)*w.Sojourn
			w.Weight = w.Samples
			switch d := p.show(t, w); {
			case d.Reason.Code == law.Rebased:
				noLoad = d.Reason.Have
			case noLoad > 0:
				return d.Reason.Want / noLoad
			}
		}
	}
	for before := 1.65; before > 1.35; {
		now := tolerance(1)
		if now >= before {
			t.Fatalf("a probe changes the tolerance from %.3f to %.3f, want less", before, now)
		}
		before = now
	}
	if got := tolerance(3); got < 1.6 {
		t.Errorf("a tolerance of %.3f for slower work, want 1.65", got)
	}
}
