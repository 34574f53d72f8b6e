package law_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// Three limiters share a downstream. The second measured its latency without load while the others
// had work there, and the third has less work than it may run.
func ExampleAdvise() {
	for _, a := range law.Advise([]law.Report{
		{NoLoad: 20 * ms, Target: 30, Rate: 500, Reached: true},
		{NoLoad: 40 * ms, Target: 10, Rate: 200, Reached: true},
		{NoLoad: 20 * ms, Target: 25, Rate: 100},
	}) {
		fmt.Printf("of %d: no load %v, times %.1f, share %.2f\n", a.Members, a.NoLoad, a.Slower, a.Share)
	}
	// Output:
	// of 3: no load 20ms, times 1.0, share 0.67
	// of 3: no load 20ms, times 0.5, share 2.00
	// of 3: no load 20ms, times 1.0, share 0.80
}

func TestAdviceWithoutKnowledge(t *testing.T) {
	if a := law.Advise(nil); len(a) != 0 {
		t.Errorf("%+v", a)
	}
	for _, a := range law.Advise([]law.Report{{}, {Target: 5, Reached: true, Rate: 3}}) {
		if a.NoLoad != 0 || a.Slower != 0 || a.Members != 2 || !a.Valid() {
			t.Errorf("%+v", a)
		}
	}
	for _, r := range []law.Report{{NoLoad: -1}, {Target: math.NaN()}, {Rate: math.Inf(1)}, {Target: -1}} {
		if r.Valid() {
			t.Errorf("%+v is valid", r)
		}
	}
	for _, a := range []law.Advice{{NoLoad: -1}, {Members: -1}, {Slower: math.NaN()}, {Share: math.Inf(1)}} {
		if a.Valid() {
			t.Errorf("%+v is valid", a)
		}
	}
}

// TestAdviceOfExtremes: reports may come from a broken process. Their advice must be valid even so.
func TestAdviceOfExtremes(t *testing.T) {
	least := law.Report{NoLoad: 1, Target: math.SmallestNonzeroFloat64, Rate: math.SmallestNonzeroFloat64, Reached: true}
	most := law.Report{NoLoad: math.MaxInt64, Target: math.MaxInt32, Rate: math.MaxInt32, Reached: true}
	for _, a := range law.Advise([]law.Report{least, most, {Reached: true}}) {
		if !least.Valid() || !most.Valid() || !a.Valid() {
			t.Errorf("%+v is not valid", a)
		}
	}
}

// taught is a pilot whose limit was reached, and its law.
func taught(t *testing.T) (*pilot, law.Peer) {
	t.Helper()
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	p.fly(t, 10*time.Second)
	return p, p.controller.(law.Peer)
}

// TestAdviceIsRelative: a law takes over the difference to the others, and not their values of a
// while ago.
func TestAdviceIsRelative(t *testing.T) {
	p, peer := taught(t)
	before := peer.Report()
	if before.NoLoad < 40*ms || before.NoLoad > 70*ms || before.Target < lowest/2 || before.Rate < 900 || !before.Reached {
		t.Fatalf("%+v of 50 workers of 50 ms", before)
	}
	peer.Advise(law.Advice{Members: 2, NoLoad: time.Hour, Slower: 1, Share: 1})
	if now := peer.Report(); now != before {
		t.Errorf("from %+v to %+v without a difference", before, now)
	}
	peer.Advise(law.Advice{Members: 2, NoLoad: before.NoLoad, Slower: 0.5, Share: 0.5})
	if now := peer.Report(); now.NoLoad != before.NoLoad/2 || now.Target > 0.7*before.Target || now.Target < 0.5*before.Target {
		t.Errorf("from %+v to %+v at half", before, now)
	}
	p.steers(t)
}

// unreached is a window of a limit that is not used up, while the others make the downstream slow.
func (p *pilot) unreached() law.Window {
	w := p.window()
	w.InFlight, w.Crowd, w.Peak, w.Refused, w.Saturated = float64(p.limit)/2, float64(p.limit)/2, p.limit/2, 0, 0
	w.Mean, w.Sojourn, w.Least = 150*ms, 150*ms, 140*ms
	w.Samples = int(w.InFlight * w.Elapsed.Seconds() / w.Mean.Seconds())
	w.Weight = w.Samples
	return w
}

// TestAdviceForAnUnusedLimit: the limit of a member that joined in an overload falls to its fair
// part, though it is not reached.
func TestAdviceForAnUnusedLimit(t *testing.T) {
	p, peer := taught(t)
	for range 20 {
		p.show(t, p.unreached())
	}
	before := p.limit
	if p.show(t, p.unreached()); p.limit != before {
		t.Fatalf("from %d to %d without advice", before, p.limit)
	}
	r := peer.Report()
	if r.Reached {
		t.Fatalf("%+v of a limit that is not reached", r)
	}
	advice := law.Advise([]law.Report{r, {NoLoad: 50 * ms, Target: r.Target / 2, Rate: r.Rate, Reached: true}})
	peer.Advise(advice[0])
	if p.show(t, p.unreached()); p.limit >= before || p.limit < before/2 {
		t.Errorf("from %d to %d: want most of the way to half", before, p.limit)
	}
}

// TestAdviceForTheStart: a law that has not reached its limit takes over the latency.
func TestAdviceForTheStart(t *testing.T) {
	p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
	peer := p.controller.(law.Peer)
	if r := peer.Report(); r != (law.Report{}) {
		t.Errorf("%+v of a limit that was never reached", r)
	}
	peer.Advise(law.Advice{Members: 2, NoLoad: 10 * ms})
	p.show(t, p.window())
	if r := peer.Report(); r.NoLoad != 10*ms {
		t.Errorf("%+v: want the latency of the advice", r)
	}
}

// TestProbeTakesNoAdvice: a probe compares latencies with the one before it.
func TestProbeTakesNoAdvice(t *testing.T) {
	p, peer := taught(t)
	p.probe(t)
	before := peer.Report()
	peer.Advise(law.Advice{Members: 2, NoLoad: before.NoLoad, Slower: 2, Share: 2})
	if now := peer.Report(); now != before {
		t.Errorf("from %+v to %+v in a probe", before, now)
	}
}

// TestSetpointAfterBadAdvice: whatever a law is advised, it steers again once it is not.
func TestSetpointAfterBadAdvice(t *testing.T) {
	for _, a := range []law.Advice{
		{},
		{Members: math.MaxInt},
		{Members: -1, NoLoad: -1, Slower: -1, Share: -1},
		{Members: 2, NoLoad: time.Hour, Slower: math.Inf(1), Share: math.Inf(1)},
		{Members: 2, NoLoad: 1, Slower: math.NaN(), Share: math.NaN()},
		{Members: 2, NoLoad: 1, Slower: 1e-300, Share: 1e-300},
	} {
		p, peer := taught(t)
		peer.Advise(a)
		p.fly(t, time.Second)
		peer.Advise(law.Advice{})
		p.fly(t, time.Minute)
		p.steers(t)
	}
}

// TestProbesOfPeersAreShort: those that measure together need fewer samples each.
func TestProbesOfPeersAreShort(t *testing.T) {
	alone, _ := taught(t)
	alone.probe(t)
	together, peer := taught(t)
	peer.Advise(law.Advice{Members: 8})
	together.probe(t)
	if together.plan.Interval > alone.plan.Interval {
		t.Errorf("a probe of %v among eight, and of %v alone", together.plan.Interval, alone.plan.Interval)
	}
}
