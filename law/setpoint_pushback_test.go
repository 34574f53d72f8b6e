package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// A refuser is a downstream that refuses work; nothing makes it slower.
type refuser struct {
	above  int     // its capacity
	always float64 // share that it refuses at any load
	limit  int
	rests  bool // slots of refused work rest for as long as served work takes
}

// show passes the law four latencies under the limit, and one while slots rest, with ten times as
// much work as fits.
func (f *refuser) show(c law.Controller) law.Decision {
	served, latencies := f.limit, 4
	if f.above > 0 {
		served = min(served, f.above)
	}
	extra := 5 * served
	if f.rests {
		latencies, extra = 1, f.limit-served
	}
	refused := int(f.always * float64(latencies*served))
	if served < f.limit {
		refused += extra
	}
	d := c.Next(law.Window{
		Limit: f.limit, Min: 1, Max: 1000, Elapsed: time.Duration(25*latencies) * ms, Samples: latencies * served,
		Overloaded: refused, Waited: 100, Mean: 25 * ms, Deviation: 10 * ms,
		InFlight: float64(served), Peak: f.limit, First: f.limit, Last: f.limit,
	})
	f.limit, f.rests = int(d.Limit), d.Next.Rest > 0
	return d
}

func TestSetpointYieldsToPushback(t *testing.T) {
	c, f := start(t, law.Setpoint{}), &refuser{above: 50, limit: 80}
	if d := f.show(c); d.Limit != 50 || d.Reason.Signal != law.Pushback {
		t.Errorf("%v to %v, want what is served", d.Reason, d.Limit)
	}
	var sent, refused int
	for range 1000 {
		if d := f.show(c); f.limit < 45 && d.Reason.Code != law.Probing {
			t.Fatalf("%v to %d", d.Reason, f.limit)
		}
		sent += f.limit
		refused += max(0, f.limit-f.above)
	}
	if share := float64(refused) / float64(sent); share == 0 || share > 0.05 {
		t.Errorf("%.3f of the work is refused, want a little", share)
	}
	f.above = 100
	began := 0
	for f.limit < 90 && began < 1000 {
		f.show(c)
		began++
	}
	if took := time.Duration(began) * 100 * ms; took > 10*time.Second {
		t.Errorf("finds twice the capacity after %v", took)
	}
	f.above = 25
	for range 20 {
		f.show(c)
	}
	if f.limit > 30 {
		t.Errorf("a limit of %d after the capacity fell to 25", f.limit)
	}
}

func TestSetpointTellsAQuotaFromLoad(t *testing.T) {
	c, f := start(t, law.Setpoint{}), &refuser{always: 0.1, limit: 80}
	least, yields := f.limit, 0
	for range 200 {
		d := f.show(c)
		if d.Reason.Signal == law.Pushback {
			yields++
		}
		if d.Reason.Code != law.Probing {
			least = min(least, f.limit)
		}
	}
	if yields == 0 || least < 60 || f.limit < 80 {
		t.Errorf("%d cuts, down to %d, and %d in the end: want a trial, and the limit back", yields, least, f.limit)
	}
}

// A quota and an overload are refused together: the law cuts the refusals that load causes, and no
// more.
func TestSetpointFindsLoadAboveAQuota(t *testing.T) {
	for _, quota := range []float64{0.03, 0.1, 0.3, 0.5} {
		c, f := start(t, law.Setpoint{}), &refuser{above: 50, always: quota, limit: 80}
		limits := 0
		for i := range 600 {
			f.show(c)
			if i >= 200 {
				limits += f.limit
			}
		}
		if mean := limits / 400; mean < 45 || mean > 55 {
			t.Errorf("a quota of %.0f%%: a limit of %d in the mean, want near 50", 100*quota, mean)
		}
	}
}

// A quota that begins while the law looks for the limit of an overload holds nothing back once the
// overload has ended.
func TestSetpointFindsAQuotaLater(t *testing.T) {
	c, f := start(t, law.Setpoint{}), &refuser{above: 50, limit: 80}
	for range 200 {
		f.show(c)
	}
	f.above, f.always = 0, 0.2
	for range 400 {
		f.show(c)
	}
	if f.limit < 100 {
		t.Errorf("a limit of %d, want it to rise above 50", f.limit)
	}
}

// A capacity that falls to a fifth at once is no quota. The ceiling rises again once the capacity
// is back.
func TestSetpointFollowsAFallOfTheCapacity(t *testing.T) {
	c, f := start(t, law.Setpoint{}), &refuser{above: 50, limit: 80}
	for range 200 {
		f.show(c)
	}
	f.above = 10
	for range 60 {
		f.show(c)
	}
	if f.limit > 15 {
		t.Errorf("a limit of %d, want near 10", f.limit)
	}
	f.above = 50
	for range 60 {
		f.show(c)
	}
	if f.limit < 45 {
		t.Errorf("a limit of %d after the capacity came back, want near 50", f.limit)
	}
}

// The floor of a quota that ends is forgotten.
func TestSetpointForgetsAQuota(t *testing.T) {
	c, f := start(t, law.Setpoint{}), &refuser{above: 100, always: 0.3, limit: 80}
	for range 200 {
		f.show(c)
	}
	f.always, f.above = 0, 50
	for range 200 {
		f.show(c)
	}
	if f.limit < 40 || f.limit > 60 {
		t.Errorf("a limit of %d after the quota ended, want near 50", f.limit)
	}
}

// A share that falls while a probe lowers the limits of all was load after all.
func TestSetpointDoubtsAQuotaInProbes(t *testing.T) {
	c, f := start(t, law.Setpoint{}), &refuser{always: 0.3, limit: 80}
	probing, yields := false, 0
	for i := range 800 {
		f.always = 0.3
		if probing {
			f.always = 0
		}
		d := f.show(c)
		probing = d.Reason.Code == law.Probing
		if i > 200 && d.Reason.Signal == law.Pushback {
			yields++
		}
	}
	if yields < 5 {
		t.Errorf("%d cuts in a minute, want one or more after each probe", yields)
	}
}

// Callers that leave are marks of an overload as well, if the limit was reached.
func TestSetpointHearsOfCallersThatLeave(t *testing.T) {
	c, limit, cuts := start(t, law.Setpoint{}), 20, 0
	show := func(limit, waited int, latency time.Duration) law.Decision {
		done := int(20 * time.Second / latency)
		return c.Next(law.Window{
			Limit: limit, Min: 1, Max: 1000, Elapsed: time.Second, Samples: done, Late: 3 * done / 4, Waited: waited,
			Mean: latency, Deviation: latency / 100, InFlight: 20, Peak: 20, First: 20, Last: 20,
		})
	}
	if d := show(limit, 20, time.Second/10); d.Reason.Signal == law.Lateness {
		t.Errorf("%v of a start without a queue", d.Reason)
	}
	if d := show(limit, 0, time.Second/5); d.Reason.Signal == law.Lateness {
		t.Errorf("%v of a limit that was not reached", d.Reason)
	}
	for range 10 {
		d := show(limit, 20, time.Second/5)
		if limit = int(d.Limit); d.Reason.Signal == law.Lateness {
			cuts++
			if text := law.Explain(d.Reason, 20, 19); text != "share of late work 75% above 4%: cut 20 to 19" {
				t.Error(text)
			}
		}
	}
	if cuts == 0 {
		t.Error("no cut")
	}
}

// Late work says nothing of a limit with room: a fault makes work late too, and when a load ends,
// its longest work ends last.
func TestSetpointIgnoresLateWorkBesideRoom(t *testing.T) {
	window := func(samples, waited, late int, latency time.Duration) law.Window {
		n := float64(samples) * latency.Seconds()
		return law.Window{
			Limit: 20, Min: 1, Max: 1000, Elapsed: time.Second, Samples: samples, Waited: waited, Late: late,
			Mean: latency, InFlight: n, Peak: 20, First: int(n), Last: int(n),
		}
	}
	reached, unused := window(200, 20, 0, time.Second/10), window(100, 0, 0, time.Second/10)
	for name, windows := range map[string][2]law.Window{
		"the end of a load":     {reached, window(5, 0, 4, time.Second/2)},
		"a fault, and a chance": {unused, window(40, 1, 30, time.Second/4)},
	} {
		c := start(t, law.Setpoint{})
		c.Next(reached)
		for range 9 {
			c.Next(windows[0])
		}
		if d := c.Next(windows[1]); d.Limit < 20 {
			t.Errorf("%s: %v to %v", name, d.Reason, d.Limit)
		}
	}
}

// A server that pauses makes much work late at once, at any limit.
func TestSetpointRisesBetweenPauses(t *testing.T) {
	c, limit := start(t, law.Setpoint{}), 20
	show := func(latency time.Duration, late int) {
		done := int(float64(limit) / latency.Seconds())
		limit = int(c.Next(law.Window{
			Limit: limit, Min: 1, Max: 20, Elapsed: time.Second, Samples: done, Late: late, Waited: done / 4,
			Mean: latency, InFlight: float64(limit), Peak: limit, First: limit, Last: limit,
		}).Limit)
	}
	least := 20
	for i := range 200 {
		if i%4 == 3 {
			show(200*ms, limit)
		} else {
			show(100*ms, 0)
		}
		if i > 100 {
			least = min(least, limit)
		}
	}
	if least < 15 {
		t.Errorf("a limit of %d, want nearly 20", least)
	}
}

// A fault makes work late beside room, while the cuts of a trial wait to be judged.
func TestSetpointJudgesNoCutBesideRoom(t *testing.T) {
	c, limit := start(t, law.Setpoint{}), 20
	show := func(latency time.Duration, waited, late int) law.Reason {
		d := c.Next(law.Window{
			Limit: limit, Min: 1, Max: 1000, Elapsed: time.Second, Samples: 200, Waited: waited, Late: late,
			Mean: latency, InFlight: 200 * latency.Seconds(), Peak: limit, First: limit, Last: limit,
		})
		limit = int(d.Limit)
		return d.Reason
	}
	for range 10 {
		show(100*ms, 20, 0)
	}
	for tries := 0; show(200*ms, 20, 150).Signal != law.Lateness; tries++ {
		if tries == 10 {
			t.Fatal("no cut")
		}
	}
	for range 5 {
		if why := show(200*ms, 0, 150); why.Signal == law.Lateness {
			t.Errorf("%v of a limit that was not reached", why)
		}
	}
}

// A cut for late work shows only after the work that began before it, so windows stay as long as
// the work.
func TestSetpointDoesNotHurryLateWork(t *testing.T) {
	const latency = 10 * time.Second
	c, cuts := start(t, law.Setpoint{}), 0
	w := law.Window{
		Limit: 20, Min: 1, Max: 1000, Elapsed: 100 * time.Second, Samples: 200, Waited: 20,
		Mean: latency, InFlight: 20, Peak: 20, First: 20, Last: 20,
	}
	for i := range 12 {
		if i > 8 {
			w.Late, w.Mean, w.InFlight, w.Samples = 100, 2*latency, 40, 200
		}
		d := c.Next(w)
		if d.Reason.Signal == law.Lateness {
			cuts++
			if d.Next.Interval < latency {
				t.Errorf("windows of %v for work of %v", d.Next.Interval, 2*latency)
			}
		}
	}
	if cuts == 0 {
		t.Error("no cut")
	}
}

// A limit of 1 has no room for a trial.
func TestSetpointLeavesTheLeastLimit(t *testing.T) {
	c, f := start(t, law.Setpoint{}), &refuser{above: 50, always: 0.3, limit: 1}
	for range 200 {
		f.show(c)
	}
	if f.limit < 40 {
		t.Errorf("a limit of %d, want near 50", f.limit)
	}
}

// Everything is refused, for ever: the limit stays, because there is nothing to lose.
func TestSetpointWaitsWhereAllIsRefused(t *testing.T) {
	c := start(t, law.Setpoint{})
	for range 100 {
		d := c.Next(law.Window{Limit: 20, Min: 1, Max: 100, Elapsed: time.Second, Overloaded: 1_000_000, Peak: 20})
		if d.Limit != 20 {
			t.Fatalf("%v to %v", d.Reason, d.Limit)
		}
	}
}
