package admit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// holdAll fills all slots with measured work.
func (r *rig) holdAll(n int) (held []*reply.Ticket) {
	for range n {
		held = append(held, r.must(1))
		r.measure(held[len(held)-1], window.Ignore)
	}
	return held
}

// Max may leave no room for the law's limit beside the held slots. Once they are free, the
// limit is back at the law's value, unless the law cut its visible part.
func TestLimitOutlivesWhatIsHeld(t *testing.T) {
	for _, c := range []struct{ decides, shown, want int }{
		{0, 2, 4}, // it holds
		{3, 2, 4}, // it raises
		{1, 2, 1}, // it cuts
	} {
		shown := 0
		l := lawFunc(func(w law.Window) law.Decision {
			shown = w.Limit
			if c.decides == 0 || w.Samples == 0 {
				return law.Decision{Limit: float64(w.Limit)}
			}
			return law.Decision{Limit: float64(c.decides)}
		})
		r := newLawRig(t, l, settings(4, func(s *admit.Settings) { s.Bounds.Max = 6 }), nil)
		held := r.holdAll(4)
		one := r.must(1)
		r.now += 2 * time.Second
		r.done(one, window.Success)
		if shown != c.shown {
			t.Errorf("%+v: shown %d", c, shown)
		}
		for _, ticket := range held {
			r.done(ticket, window.Success)
		}
		if got := r.state().Limit; got != c.want {
			t.Errorf("%+v: limit %d once all is back", c, got)
		}
	}
}

// The history and the events report the law's limit, regardless of held slots.
func TestChangesLeaveOutWhatIsHeld(t *testing.T) {
	r := newLawRig(t, lawFunc(func(w law.Window) law.Decision {
		return law.Decision{Limit: float64(w.Limit + min(w.Samples, 1))}
	}), settings(4, func(s *admit.Settings) { s.Observed = true }), nil)
	decide := func() {
		one := r.must(1)
		r.now += 2 * time.Second
		r.done(one, window.Success)
	}
	decide()
	r.holdAll(3)
	decide()
	event := r.fx.Change
	if event == nil || event.From != 5 || event.To != 6 {
		t.Errorf("the event says %+v: want 5 to 6", event)
	}
	var got strings.Builder
	for _, c := range r.node.History() {
		fmt.Fprint(&got, c.From, " to ", c.To, ", ")
	}
	if want := "4 to 5, 5 to 6, "; got.String() != want {
		t.Errorf("history %q: want %q", got.String(), want)
	}
}
