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
