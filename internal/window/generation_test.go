package window

import (
	"math/rand/v2"
	"testing"
	"time"
)

// steady runs pieces of work of a millisecond, one after another, until the given time.
func steady(m *Meter, until int64) {
	for now := m.last; now < until; {
		m.Start(now, 1)
		start := now
		now += ms
		m.Flow(now, 1, false)
		m.Done(start, now, 1, Success)
	}
}

func TestLooksBackAtLeastHalf(t *testing.T) {
	m := New(0, time.Second)
	steady(m, second)
	for now := second; now < 4*second; now += 10 * ms {
		steady(m, now)
		if n := m.Samples(); n < 500 || n > 1000 {
			t.Fatalf("%d samples of the last second, want 500 to 1000", n)
		}
		if n := m.Recent(now).Samples; n != m.Samples() {
			t.Fatalf("a snapshot sees %d, the law %d", n, m.Samples())
		}
		for later := 100 * ms; later <= second; later += 100 * ms {
			if n := int64(m.Recent(now + later).Samples); n > (second-later)/ms {
				t.Fatalf("%d samples for a reader who comes %v later, want none that are older than a second", n, time.Duration(later))
			}
		}
	}
}

// Late work is a success, and counted once more, whenever it started. Work that ends while the
// window settles is not counted.
func TestLate(t *testing.T) {
	m := New(0, time.Minute)
	m.Done(0, 10*ms, 1, Late)
	m.Restart(20*ms, 5*time.Millisecond)
	m.Done(0, 22*ms, 1, Late)
	m.Flow(30*ms, 0, false)
	m.Done(0, 30*ms, 1, Late)
	m.Done(28*ms, 30*ms, 1, Late)
	if w := m.Window(40*ms, 0); w.Late != 2 || w.Samples != 1 || w.Carried != 1 {
		t.Errorf("%d late, %d samples, %d carried: want 2, 1, 1", w.Late, w.Samples, w.Carried)
	}
}

// TestLatest: after a look-back without a success the average is an old one.
func TestLatest(t *testing.T) {
	m := New(0, time.Second)
	if m.Latest() != 0 {
		t.Errorf("%v of nothing", m.Latest())
	}
	m.Done(0, 10*ms, 1, Success)
	for _, c := range []struct {
		at   int64
		want time.Duration
	}{{10 * ms, 10 * time.Millisecond}, {900 * ms, 10 * time.Millisecond}, {1100 * ms, 0}} {
		if m.Flow(c.at, 0, false); m.Latest() != c.want {
			t.Errorf("%v at %v, want %v", m.Latest(), time.Duration(c.at), c.want)
		}
	}
	if m.EWMA() == 0 {
		t.Error("the average itself was lost")
	}
}

func TestImpossibleTimes(t *testing.T) {
	m := New(1000, time.Second)
	m.Flow(2000, 1, false)
	m.Done(2000, 1500, 1, Success) // starts after it ends
	m.Done(-1<<61, 1<<61, 1, Success)
	w := m.Window(0, 0)
	if w.Samples != 2 || w.Least != 0 || w.Mean <= 0 || w.Deviation <= 0 || w.Quantile(1) < 57*time.Minute {
		t.Errorf("%+v", w)
	}
	for range 3 {
		m.rotate(m.last, 0)
		if w = m.Window(0, 0); w.Deviation < 0 || w.Mean < 0 || w.EWMA < 0 {
			t.Errorf("%+v", w)
		}
	}
}

func TestSetLookback(t *testing.T) {
	m := New(0, time.Hour)
	steady(m, 10*second)
	m.SetLookback(time.Second)
	steady(m, 10*second+1)
	if n := m.Samples(); n > 1001 {
		t.Errorf("%d samples of the last second", n)
	}
	if w := m.Window(m.last, 1); w.Elapsed > time.Second || w.InFlight != 1 {
		t.Errorf("in flight %v over %v, want 1", w.InFlight, w.Elapsed)
	}
	steady(m, 12*second)
	if n := m.Samples(); n < 500 || n > 1000 {
		t.Errorf("%d samples of the last second, want 500 to 1000", n)
	}
	m.SetLookback(time.Minute)
	steady(m, 20*second)
	if n := m.Samples(); n < 8000 {
		t.Errorf("%d samples of the last minute, want 8000 at least", n)
	}
	for _, odd := range []time.Duration{-1, 0, 1, 1<<63 - 1} {
		m.SetLookback(odd)
		steady(m, m.last+10*ms)
		m.Restart(m.last, odd)
		m.Flow(m.last+second, 0, false)
	}
}

// TestTotalIsOneMeter feeds several meters, and one with all the same input.
func TestTotalIsOneMeter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	one := New(0, 10*time.Second)
	var total Total
	parts := make([]*Meter, 5)
	for i := range parts {
		parts[i] = New(0, 10*time.Second)
	}
	for n := range int64(5000) {
		now, latency, part, o := n*ms, lognormalOf(r)<<(n%5), parts[n%5], Outcome(n%20/17)
		for _, m := range []*Meter{one, part} {
			m.Flow(now, 1, false)
			m.Start(now, 1)
			m.Waited(latency / 2)
			m.Done(now-latency, now, 1, o)
		}
	}
	raw := NewRaw()
	for _, m := range parts {
		m.Flow(5000*ms, 0, false)
		m.CopyRecent(raw, 5000*ms) // the same one: nothing of the last meter stays
		total.Add(raw)
	}
	got, want := total.Recent(), one.Recent(5000*ms)
	for q, p := range map[float64]time.Duration{0.5: want.P50, 0.95: want.P95, 0.99: want.P99} {
		if p != one.Quantile(q) {
			t.Errorf("a snapshot has %v for the quantile %v of %v", p, q, one.Quantile(q))
		}
	}
	got.EWMA, want.EWMA = 0, 0 // depends on the order
	// The order of additions matters in the last digits.
	if d := got.Mean - want.Mean; d.Abs() > want.Mean/1e6 {
		t.Errorf("mean %v, want %v", got.Mean, want.Mean)
	}
	if d := got.QueueWait - want.QueueWait; d.Abs() > want.QueueWait/1e6 {
		t.Errorf("wait %v, want %v", got.QueueWait, want.QueueWait)
	}
	got.Mean, got.QueueWait, want.Mean, want.QueueWait = 0, 0, 0, 0
	if got != want || want.Failures == 0 || want.Samples == 0 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestEmptyTotal(t *testing.T) {
	var total Total
	if r := total.Recent(); r != (Recent{}) {
		t.Errorf("%+v", r)
	}
}
