package window

import (
	"testing"
	"time"
)

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
