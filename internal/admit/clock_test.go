package admit_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/window"
)

// A reading up to a second early counts as the last one.
func TestClockALittleBack(t *testing.T) {
	r := newRig(t, 2, nil)
	r.now = 10 * time.Second
	first := r.must(1)
	r.now -= time.Second
	second := r.must(1)
	r.now += 1500 * ms
	r.done(first, window.Success)
	r.done(second, window.Success)
	if s := r.state(); s.Recent.Mean != 500*ms {
		t.Errorf("mean %v, want 500ms for both", s.Recent.Mean)
	}
}

// Beyond a second measurement restarts: work that ran by then is no sample, and its age
// counts from there.
func TestClockFarBack(t *testing.T) {
	r := newRig(t, 4, nil)
	r.now = 3600 * time.Second
	before := []*struct{ at time.Duration }{{0}, {10 * time.Second}}
	var running []func()
	for _, b := range before {
		r.now += b.at
		ticket := r.must(1)
		running = append(running, func() { r.done(ticket, window.Success) })
	}
	r.now = 5 * time.Second
	fresh := r.must(1)
	r.now += 200 * ms
	if age := r.state().Age; age < 200*ms || age > 201*ms {
		t.Errorf("age %v, want 200ms", age)
	}
	r.done(fresh, window.Success)
	for _, done := range running {
		done()
	}
	s := r.state()
	if s.Recent.Samples != 1 || s.Recent.Mean != 200*ms || s.Age != 0 {
		t.Errorf("%d samples of %v, age %v: want one of 200ms", s.Recent.Samples, s.Recent.Mean, s.Age)
	}
	r.wantCounts(0, 0)
}

// A time to come back that lies beyond the clock that was turned back is over.
func TestClockFarBackEndsPushback(t *testing.T) {
	r := newRig(t, 4, nil)
	r.now = time.Hour
	for range 32 {
		r.node.Pushback(30*time.Second, int64(r.now))
		r.done(r.must(1), window.Overloaded)
		r.now += 50 * time.Millisecond
	}
	for r.now = time.Second; r.now < 4*time.Second; r.now += time.Second {
		r.must(1)
	}
}

// In shadow mode, work that runs since before the clock was turned back keeps its virtual
// slot, and no other.
func TestClockFarBackInShadow(t *testing.T) {
	r := shadowRig(t, 2, nil)
	r.now = time.Hour
	before := r.must(1)
	r.now = time.Second
	for range 50 {
		ticket := r.must(1)
		r.now += 10 * ms
		r.done(ticket, window.Success)
	}
	r.done(before, window.Success)
	if refused := r.state().WouldRefuse; refused != 0 {
		t.Errorf("%d would be refused with one more at work, and a limit of 2: want none", refused)
	}
}
