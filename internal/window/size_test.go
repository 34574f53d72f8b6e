package window

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"
)

func TestMeterSize(t *testing.T) {
	if n := unsafe.Sizeof(Meter{}); n > 288 {
		t.Errorf("a Meter is %d bytes, want at most 288, which is what it takes of the heap", n)
	}
	if n := unsafe.Sizeof(cold{}); n > 112 {
		t.Errorf("cold is %d bytes, want at most 112", n)
	}
	if n := unsafe.Sizeof(row{}); n != 18 {
		t.Errorf("a row is %d bytes, want 18", n)
	}
}

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
