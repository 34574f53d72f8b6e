package memory

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestPagesAreTakenBackWhereResidentMemoryIsHigh(t *testing.T) {
	const target = 1000 * mib
	high := residence{anonymous: 500 * mib, all: 900 * mib}
	for _, test := range []struct {
		name     string
		r        residence
		after    residence
		pressure float64
		want     int // of 100 looks in a second
	}{
		{"below 0.85 of the target", residence{500 * mib, 849 * mib}, residence{}, 0, 0},
		{"above it, each time", high, residence{500 * mib, 700 * mib}, 0, 100},
		{"above it, in vain", high, high, 0, 10},
		{"above it, without files", residence{880 * mib, 900 * mib}, residence{}, 0, 0},
		{"others wait for memory", residence{100 * mib, 300 * mib}, residence{100 * mib, 110 * mib}, 0.2, 1},
		{"others wait, and it is high", high, residence{500 * mib, 700 * mib}, 0.2, 100},
	} {
		p, n := pager{target: target}, 0
		for at := time.Duration(0); at < time.Second; at += lookEvery {
			if p.due(at, test.r, test.pressure) {
				n++
				p.took(at, test.r, test.after)
			}
		}
		if n != test.want {
			t.Errorf("%s: %d times in a second, want %d", test.name, n, test.want)
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
