package window

import (
	"math"
	"testing"
	"time"
)

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
