package window

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// TestCumulativeHeap adds the memory of a meter that accumulates, with latencies in eleven
// octaves and no waits.
func TestCumulativeHeap(t *testing.T) {
	const meters, limit = 10_000, 128 + 704
	r := rand.New(rand.NewPCG(3, 4))
	all := make([]*Meter, meters)
	for i := range all {
		all[i] = New(0, 10*time.Second)
	}
	before := heap()
	for i := range all {
		all[i].Accumulate(true, 0)
		for range 300 {
			all[i].cumulative.Latencies.add(time.Duration(lognormalOf(r)))
		}
	}
	each := (heap() - before) / meters
	t.Logf("heap %d bytes", each)
	if each > limit {
		t.Errorf("what a meter accumulates takes %d bytes, want at most %d", each, limit)
	}
	runtime.KeepAlive(all)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// TestNothingAllocates once the octaves and carries are there.
func TestNothingAllocates(t *testing.T) {
	m, raw := New(0, time.Second), NewRaw()
	now, n := int64(0), int64(0)
	everything := func() {
		now += ms
		n++
		m.Flow(now, 2, true)
		m.Start(now, 3)
		m.Waited(5)
		m.Refused()
		m.Done(now-1000<<(n%20), now, 1, Outcome(n%9/8))
		if w := m.Window(now, 3); w.Quantile(0.95) < 0 {
			t.Error("a negative latency")
		}
		m.CopyRecent(raw, now)
		raw.Recent()
		m.Age(now)
		if n%100 == 0 {
			m.Restart(now, time.Millisecond)
		}
	}
	for range 20_000 {
		everything()
	}
	if n := testing.AllocsPerRun(10_000, everything); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// More than 32 bits of weight, or of work in flight, are counted as the largest count.
func TestWeightDoesNotWrap(t *testing.T) {
	const heavy = 1_000_000_000
	inFlight := math.MaxInt
	m := New(0, time.Second)
	for range 5 {
		m.Flow(1, 0, false)
		m.Start(1, inFlight)
		m.Done(1, 2, heavy, Success)
	}
	if w := m.Window(2, inFlight); w.Weight != most || w.Peak != most {
		t.Errorf("weight %d, peak %d: want %d", w.Weight, w.Peak, most)
	}
}

// Full counts stay full, and the mean stays the same.
func TestCountsDoNotWrap(t *testing.T) {
	full := func(failures bool) *Meter {
		m := New(0, time.Second)
		n := uint32(most - 1)
		m.current.samples, m.current.sum, m.current.sojourns = n, float64(n)*float64(ms), float64(n)*float64(ms)
		m.current.squares = float64(n) * float64(ms) * float64(ms)
		if failures {
			m.current.failures, m.current.timeouts, m.current.refused, m.current.waits = n, n, n, n
		}
		return m
	}
	m := full(true)
	for range 10 {
		m.Start(0, 1)
		m.Waited(ms)
		m.Refused()
		m.Done(0, ms, 1, Success)
		m.Start(0, 1)
		m.Done(0, ms, 1, Failure)
		m.Start(0, 1)
		m.Done(0, ms, 1, Timeout)
	}
	w := m.Window(ms, 0)
	if w.Samples != most || w.Failures != most || w.Timeouts != most || w.Refused != most || w.Waited != most {
		t.Errorf("%+v: want %d of each", w, most)
	}
	if off := w.Mean - time.Duration(ms); off.Abs() > time.Microsecond {
		t.Errorf("mean %v, want 1ms", w.Mean)
	}
	var total Total
	for range 2 {
		raw := NewRaw()
		full(false).CopyRecent(raw, 0)
		total.Add(raw)
	}
	r := total.Recent()
	if off := r.Mean - time.Duration(ms); r.Samples != most || off.Abs() > time.Microsecond {
		t.Errorf("%d samples with a mean of %v: want %d of 1ms", r.Samples, r.Mean, most)
	}
}
