package upstream

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func newRecord() *record { return &record{changes: new(atomic.Uint64)} }

func TestFailuresInARowEject(t *testing.T) {
	r, eject := newRecord(), config.Eject{Failures: 3, For: config.Duration(10 * time.Second)}
	fail := func(now time.Time) bool { return r.fail("down", r.ejections.Load(), eject, now) }
	fail(noon)
	fail(noon)
	r.succeed(0)
	for range 2 {
		if fail(noon) {
			t.Error("ejected by failures that were not in a row")
		}
	}
	if !fail(noon) {
		t.Error("not ejected by 3 failures in a row")
	}
	if sick, _, until := r.sick(false, noon.Add(10*time.Second-1)); !sick || until != noon.Add(10*time.Second) {
		t.Errorf("in the last instant: sick %t until %v", sick, until)
	}
	if fail(noon.Add(5 * time.Second)) {
		t.Error("the ejection was made longer")
	}
	back := noon.Add(10 * time.Second)
	if sick, _, _ := r.sick(false, back); sick {
		t.Error("still ejected after its time")
	}
	if !fail(back) {
		t.Error("back, it was not ejected by the next failure")
	}
	again := back.Add(10 * time.Second)
	r.succeed(r.ejections.Load())
	if fail(again) {
		t.Error("back, it was ejected by one failure after a success")
	}
}

func TestFailuresOfRequestsFromBeforeAnEjectionEjectNoMore(t *testing.T) {
	r, eject := newRecord(), config.Eject{Failures: 2, For: config.Duration(10 * time.Second)}
	for range 2 {
		r.fail("down", 0, eject, noon)
	}
	later := noon.Add(time.Minute)
	for range 10 {
		if r.fail("timed out", 0, eject, later) {
			t.Fatal("ejected again by a request that began before the first ejection")
		}
	}
	if r.failures.Load() != 12 {
		t.Errorf("%d failures counted, want 12", r.failures.Load())
	}
	r.succeed(0)
	if !r.fail("down", 1, eject, later) {
		t.Error("a success from before the ejection was taken for one since")
	}
}

func TestNothingIsEjectedIfThatIsOff(t *testing.T) {
	r := newRecord()
	for range 100 {
		if r.fail("down", 0, config.Eject{}, noon) {
			t.Fatal("ejected")
		}
	}
}

func TestChecksInARowChangeHealth(t *testing.T) {
	r, health, down := newRecord(), config.Health{Failures: 3, Passes: 2}, errors.New("down")
	for i, step := range []struct {
		err     error
		changed bool
		sick    bool
	}{
		{down, false, false},
		{down, false, false},
		{nil, false, false}, // not in a row
		{down, false, false},
		{down, false, false},
		{down, true, true},
		{down, false, true},
		{nil, false, true},
		{down, false, true},
		{nil, false, true},
		{nil, true, false},
		{nil, false, false},
	} {
		changed := r.check(step.err, health, noon)
		if sick, _, _ := r.sick(true, noon); changed != step.changed || sick != step.sick {
			t.Fatalf("check %d (%v): changed %t, sick %t; want %t, %t", i, step.err, changed, sick, step.changed, step.sick)
		}
	}
	for range 3 {
		r.check(down, health, noon)
	}
	if sick, _, _ := r.sick(false, noon); sick {
		t.Error("sick by checks that are switched off")
	}
}

func TestAShorterIntervalHoldsAtOnce(t *testing.T) {
	r := newRecord()
	for r.checkIn(time.Hour, noon) < time.Minute {
		r.forgetHealth()
	}
	if wait := r.checkIn(time.Second, noon); wait > time.Second {
		t.Errorf("the next check is in %v, at an interval of 1 s", wait)
	}
}
