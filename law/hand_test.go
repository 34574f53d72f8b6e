package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// A hand is a sequence worked out by hand: each window has the limit, from 1 to 200, that the
// one before led to.
type hand struct {
	name    string
	law     law.Law
	from    int
	windows []law.Window
	want    []string
}

func byHand(t *testing.T, hands []hand) {
	t.Helper()
	for _, h := range hands {
		t.Run(h.name, func(t *testing.T) {
			c, limit := start(t, h.law), h.from
			for i, w := range h.windows {
				d, from := next(c, limit, w), limit
				limit = law.Bounds{Min: 1, Max: 200}.Clamp(d.Limit, limit)
				if got := law.Explain(d.Reason, from, limit); got != h.want[i] {
					t.Errorf("window %d: %q, want %q", i, got, h.want[i])
				}
			}
		})
	}
}

// average is a window of a second in which the limit was used and work took d.
func average(d time.Duration) law.Window {
	return law.Window{Elapsed: time.Second, Samples: 100, Mean: d, Peak: 1 << 30}
}

// flow is a window of a second in which the limit was used, with the given completions and
// work in flight.
func flow(samples int, inFlight float64) law.Window {
	return law.Window{Elapsed: time.Second, Samples: samples, InFlight: inFlight, Peak: 1 << 30}
}

// idle is the window with a peak of its own instead of a used limit.
func idle(w law.Window, peak int) law.Window {
	w.Peak = peak
	return w
}

func timeouts(w law.Window, n int) law.Window {
	w.Timeouts = n
	return w
}
