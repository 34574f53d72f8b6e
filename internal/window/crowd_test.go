package window

import (
	"testing"

	"github.com/weir-go/weir/law"
)

// weightOf is the weight of the model's work with the given start.
func weightOf(start int64) int { return 1 + int(start%3) }

// checkCrowd compares a window's concurrency and its work that is no sample with the events
// since it began.
func (m *model) checkCrowd(t *testing.T, w law.Window, from int64) {
	t.Helper()
	if w.Elapsed == 0 {
		return
	}
	area, crowd, held, heldArea := 0.0, 0.0, 0.0, 0.0
	for _, s := range m.spans {
		d := float64(s.to - max(s.from, from))
		if d <= 0 {
			continue
		}
		n := float64(s.inflight)
		area += d * n
		crowd += d * n * n
		if s.saturated {
			held += d
			heldArea += d * n
		}
	}
	if area > 0 {
		near(t, "crowd", w.Crowd, crowd/area, 1e-5)
	}
	near(t, "held time", float64(w.Held.Elapsed), held, 1e-5)
	if held > 0 {
		near(t, "held in flight", w.Held.InFlight, heldArea/held, 1e-5)
	}
	m.checkEnded(t, w, from)
}

// checkEnded checks the counts of work by its end. Work that ended in the instant in which
// the window began may be in it or not.
func (m *model) checkEnded(t *testing.T, w law.Window, from int64) {
	t.Helper()
	sums := func(from int64) (weight, carried, failed, held int) {
		for _, e := range m.work {
			if e.end < from || e.outcome > Timeout {
				continue
			}
			if e.held {
				held++
			}
			if e.outcome == Success {
				weight += weightOf(e.start)
			}
			switch {
			case e.start >= m.fence:
			case e.outcome == Success:
				carried++
			default:
				failed++
			}
		}
		return weight, carried, failed, held
	}
	weight, carried, failed, held := sums(from + 1)
	mostWeight, mostCarried, mostFailed, mostHeld := sums(from)
	for _, c := range []struct {
		what             string
		got, least, most int
	}{
		{"weight", w.Weight, weight, mostWeight},
		{"carried", w.Carried, carried, mostCarried},
		{"carried and failed", w.CarriedFailed, failed, mostFailed},
		{"ended while held back", w.Held.Completed, held, mostHeld},
	} {
		if c.got < c.least || c.got > c.most {
			t.Fatalf("%s: %d, want %d to %d", c.what, c.got, c.least, c.most)
		}
	}
}
