package window

import (
	"testing"
	"time"
)

// steady lets one piece of work of a millisecond follow another until the time given.
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
	}
}

func TestShortPauseKeepsTheRest(t *testing.T) {
	m := New(0, time.Second)
	steady(m, 750*ms)
	m.Flow(1400*ms, 0, false)
	if n := m.Samples(); n != 250 && n != 251 {
		t.Errorf("%d samples since 500 ms, want 250", n)
	}
	if r := m.Recent(1499 * ms); r.Samples != m.Samples() {
		t.Errorf("a snapshot sees %d, want %d", r.Samples, m.Samples())
	}
	if r := m.Recent(1500 * ms); r.Samples != 0 {
		t.Errorf("a snapshot sees %d that are too old", r.Samples)
	}
}

func TestFirstMovesWithTheLookback(t *testing.T) {
	m := New(0, time.Second)
	m.Flow(0, 1, false)
	m.Flow(400*ms, 1, false)
	m.Flow(600*ms, 2, false)
	m.Flow(1200*ms, 3, false)
	if w := m.Window(m.last, 9); w.First != 2 || w.Elapsed != 700*time.Millisecond {
		t.Errorf("first %d of %v, want 2 of 700ms", w.First, w.Elapsed)
	}
}

func TestStatistics(t *testing.T) {
	m := New(0, time.Minute)
	m.Flow(second, 0, false)
	record(m, 2*time.Millisecond, 4*time.Millisecond, 4*time.Millisecond, 4*time.Millisecond,
		5*time.Millisecond, 5*time.Millisecond, 7*time.Millisecond, 9*time.Millisecond)
	m.Done(0, 5, 1, Failure)
	m.Done(0, 5, 1, Timeout)
	m.Done(0, 5, 1, Ignore)
	m.Done(0, 5, 1, Outcome(99))
	m.Waited(10)
	m.Waited(20)
	m.Waited(-5)
	m.Refused()
	w := m.Window(second, 0)
	if w.Samples != 8 || w.Failures != 1 || w.Timeouts != 1 || w.Refused != 1 || w.Waited != 3 || m.Completed() != 10 {
		t.Errorf("counts %+v", w)
	}
	if w.Mean != 5*time.Millisecond || w.Deviation != 2*time.Millisecond || w.Least != 2*time.Millisecond ||
		w.QueueWait != 10 {
		t.Errorf("mean %v, deviation %v, least %v, wait %v", w.Mean, w.Deviation, w.Least, w.QueueWait)
	}
	r := m.Recent(second)
	if r.Samples != 8 || r.Mean != w.Mean || r.ErrorRate != 0.2 || r.TimeoutRate != 0.1 || r.P50 != m.Quantile(0.5) {
		t.Errorf("a snapshot sees %+v", r)
	}
	before := w
	before.Latencies = nil
	m.rotate(second, 0)
	w = m.Window(second, 0)
	if w.Latencies = nil; w != before {
		t.Errorf("after rotation %+v, before %+v", w, before)
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

func TestEWMA(t *testing.T) {
	m := New(0, time.Second)
	if m.EWMA() != 0 {
		t.Errorf("EWMA %v of nothing", m.EWMA())
	}
	record(m, 16*time.Millisecond, 32*time.Millisecond)
	m.Restart(0, 0)
	if m.EWMA() != 17*time.Millisecond {
		t.Errorf("EWMA %v, want 17ms", m.EWMA())
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

// TestSmallDeviation stays visible in the past generation, which keeps it in 32 bits.
func TestSmallDeviation(t *testing.T) {
	m := New(0, time.Second)
	for range 1000 {
		record(m, 100*time.Millisecond, 100*time.Millisecond+2*time.Microsecond)
	}
	m.rotate(0, 0)
	if d := m.Window(0, 0).Deviation; d < 990 || d > 1010 {
		t.Errorf("deviation %v, want 1µs", d)
	}
}

// Work of an earlier limit counts in a snapshot only.
func TestStragglersDoNotJudge(t *testing.T) {
	m := New(0, time.Second)
	steady(m, 300*ms)
	old := m.last
	m.Restart(old, 100*time.Millisecond)
	settling := old + 50*ms
	m.Flow(old+150*ms, 1, false)
	m.Done(old, m.last, 1, Success)
	m.Done(settling, m.last, 1, Timeout)
	if w := m.Window(m.last, 0); w.Completed() != 0 {
		t.Errorf("the law sees %d of an earlier limit", w.Completed())
	}
	if r := m.Recent(m.last); r.Samples != 301 || r.Timeouts != 1 || m.Quantile(1) < 140*time.Millisecond {
		t.Errorf("a snapshot sees %+v", r)
	}
	m.Done(old+100*ms, m.last, 1, Success)
	if m.Samples() != 1 {
		t.Errorf("the law sees %d of its limit, want 1", m.Samples())
	}
	m.Flow(old+650*ms, 1, false) // rotates: the law sees the past generation again
	m.Done(old, m.last, 1, Success)
	m.Done(old, m.last, 1, Failure)
	if w := m.Window(m.last, 0); w.Completed() != 1 {
		t.Errorf("the law sees %d of an earlier limit", w.Completed()-1)
	}
}

// TestSnapshotSurvivesOneRestart sees at least a quarter of the look-back, at any time of the
// restart.
func TestSnapshotSurvivesOneRestart(t *testing.T) {
	for at := second; at < 2*second; at += 10 * ms {
		m := New(0, time.Second)
		steady(m, at)
		m.Restart(at, 0)
		for range 200 {
			steady(m, m.last+10*ms)
			if n := m.Recent(m.last).Samples; n < 250 || n > 1000 {
				t.Fatalf("restart at %d: %d samples of the last second", at/ms, n)
			}
		}
	}
}

// TestSnapshotSurvivesManyRestarts sees far more than one of the short windows that a law
// may ask for.
func TestSnapshotSurvivesManyRestarts(t *testing.T) {
	m := New(0, time.Second)
	most, sum, rounds := 0, 0, 1000
	for i := range rounds {
		steady(m, m.last+int64(i%37)*ms)
		n := m.Recent(m.last).Samples
		most, sum = max(most, n), sum+n
		m.Restart(m.last, 0)
	}
	if most < 900 || most > 1000 || sum/rounds < 400 {
		t.Errorf("at most %d, on average %d of the last 1000", most, sum/rounds)
	}
}
