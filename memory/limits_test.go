package memory

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

func TestLimitIsNeverAboveTheUsers(t *testing.T) {
	m := &made{limit: 700}
	var l limits
	l.begin(m.setLimit)
	for _, step := range []struct{ users, wanted, want int64 }{
		{0, 900, 700}, {0, 500, 500}, {600, 900, 600}, {0, 500, 500}, {0, 650, 600}, {math.MaxInt64, 650, 650},
	} {
		if step.users > 0 {
			m.limit = step.users
		}
		l.move(step.wanted)
		if m.limit != step.want {
			t.Errorf("%+v: limit %d", step, m.limit)
		}
	}
	l.end()
	if m.limit != math.MaxInt64 {
		t.Errorf("limit %d at the end, want what the program set last", m.limit)
	}
}

// Between the last step and Close no step notices the program's own limit.
func TestLimitThatIsSetJustBeforeClose(t *testing.T) {
	g, m := governed(t, Config{Target: 1 << 30})
	g.begin()
	if g.step(); m.limit == math.MaxInt64 {
		t.Fatalf("limit %d after a step", m.limit)
	}
	m.setLimit(600)
	g.Close()
	g.step() // which Run may have begun when it was closed
	if m.limit != 600 {
		t.Errorf("limit %d after Close, want the program's, 600", m.limit)
	}
}

func TestPagesAreTakenBackWhereResidentMemoryIsHigh(t *testing.T) {
	for _, test := range []struct {
		name                string
		anonymous, resident uint64 // in MiB, of a target of 1000
		vain                bool
		want                int           // how often
		next                time.Duration // until it looks again
	}{
		{"below 0.85 of the target", 500, 849, false, 0, lookEvery},
		{"above it", 500, 900, false, 1, lookEvery},
		{"above it, in vain", 500, 900, true, 1, vainEvery},
		{"above it, without files", 880, 900, false, 0, lookEvery},
	} {
		g, m := governed(t, Config{Target: 1000 * mib})
		m.vain = test.vain
		m.set(reading{anonymous: test.anonymous * mib, resident: test.resident * mib})
		if next := g.look(); m.pagings != test.want || next != test.next {
			t.Errorf("%s: %d times, and looks again in %v, want %d and %v", test.name, m.pagings, next, test.want, test.next)
		}
	}
}

// A store that writes 500 MB a second maps 25 MiB in a step, and 30 while its pages are taken back.
func TestFastStoreStaysInsideTheTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := governed(t, Config{Target: 256 * mib, Mapped: []string{"/data/*"}})
		m.slow = 60 * time.Millisecond
		m.set(reading{anonymous: 190 * mib, resident: 190 * mib})
		go func() { _ = g.Run(t.Context()) }()
		for range 1000 {
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			m.mu.Lock()
			if m.reading.resident += 5 * mib; m.reading.resident > 256*mib {
				t.Errorf("%d MiB resident", m.reading.resident/mib)
			}
			m.mu.Unlock()
		}
		if m.pagings < 50 {
			t.Errorf("pages were taken back %d times", m.pagings)
		}
		g.Close()
	})
}

func TestMeterOfTheRuntime(t *testing.T) {
	m := newMeter()
	data := make([]byte, 64*mib)
	runtime.GC()
	if r := m.read(); r.live < 64*mib || r.fixed == 0 || r.fixed > 32*mib {
		t.Errorf("%+v: want 64 MiB of the heap alive, and none of them among stacks and metadata", r)
	}
	runtime.KeepAlive(data)
	debug.FreeOSMemory()
	if r := m.read(); r.runtime > 64*mib {
		t.Errorf("%+v: want the runtime not to have the memory that it returned", r)
	}
}

func TestMeterWithoutLinux(t *testing.T) {
	m := newMeter()
	for _, statm := range []string{"", "1 2", "1 many 3", "1 2 many"} {
		m.system = fstest.MapFS{"proc/self/statm": {Data: []byte(statm)}}
		if r := m.read(); r.anonymous != r.runtime || r.runtime == 0 || r.fixed == 0 {
			t.Errorf("statm %q: %+v, want what the runtime has", statm, r)
		}
	}
	m.system = fstest.MapFS{"proc/self/statm": {Data: []byte("9000 700 200 1 0 5 0\n")}}
	if r := m.read(); r.anonymous != 500*uint64(os.Getpagesize()) || r.resident != 700*uint64(os.Getpagesize()) {
		t.Errorf("%+v", r)
	}
}
