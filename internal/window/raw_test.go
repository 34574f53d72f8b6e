package window

import (
	"math/rand/v2"
	"testing"
	"time"
)

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
	got.EWMA, want.EWMA = 0, 0 // depends on the order
	// 48-byte summaries round.
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
