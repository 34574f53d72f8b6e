package admit_test

import (
	"math"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

func TestWindowClosesOnAnyCallButARead(t *testing.T) {
	for name, call := range map[string]struct {
		do    func(r *rig, ticket *reply.Ticket, q *request)
		close bool
	}{
		"acquire": {func(r *rig, _ *reply.Ticket, _ *request) { r.ask(admit.Work{Weight: 1}) }, true},
		"refuse":  {func(r *rig, _ *reply.Ticket, _ *request) { r.try(1) }, true},
		"join":    {func(r *rig, _ *reply.Ticket, _ *request) { r.join() }, true},
		"done":    {func(r *rig, ticket *reply.Ticket, _ *request) { r.done(ticket, window.Success) }, true},
		"expiry":  {func(r *rig, _ *reply.Ticket, q *request) { r.leave(q, reply.QueueTimeout) }, true},
		"cancel":  {func(r *rig, _ *reply.Ticket, q *request) { r.leave(q, reply.Cancelled) }, true},
		"state":   {func(r *rig, _ *reply.Ticket, _ *request) { r.state() }, false},
		"history": {func(r *rig, _ *reply.Ticket, _ *request) { r.node.History() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := &recorder{}
			r := newLawRig(t, l, settings(2, nil), nil)
			r.done(r.must(1), window.Success)
			r.must(1)
			ticket := r.must(1)
			q := r.join()
			r.now = time.Second - 1
			r.try(1)
			if l.closed() != 0 {
				t.Error("closed too early")
			}
			r.now = time.Second
			call.do(r, ticket, q)
			if got := l.closed() == 1; got != call.close {
				t.Errorf("%d windows closed", l.closed())
			}
		})
	}
}

func TestWindowWaitsForSamplesUpToTheLookback(t *testing.T) {
	l := &recorder{}
	r := newLawRig(t, l, settings(1, func(s *admit.Settings) { s.MinSamples = 2 }), nil)
	r.done(r.must(1), window.Success)
	r.must(1)
	r.now = 10*time.Second - 1
	r.try(1)
	if l.closed() != 0 {
		t.Fatal("closed without its samples")
	}
	r.now = 10 * time.Second
	r.try(1)
	if l.closed() != 1 || l.last().MinSamples != 2 {
		t.Errorf("%d windows closed, the last with %+v", l.closed(), l.last())
	}
}

// A limit must not freeze when nothing completes and all is refused.
func TestWindowClosesWhenAllIsRefused(t *testing.T) {
	l := &recorder{}
	r := newLawRig(t, l, settings(1, nil), nil)
	r.must(1)
	for range 25 {
		r.now += time.Second
		r.try(1)
	}
	if l.closed() != 2 || l.last().Refused == 0 || l.last().Saturated != 1 {
		t.Errorf("%d windows closed, the last with %+v", l.closed(), l.last())
	}
}

// Refused work is no sample. But if the downstream refuses everything, nothing else ever comes.
func TestWindowClosesWhenTheDownstreamRefusesAll(t *testing.T) {
	for _, c := range []struct {
		served, refused, want int
	}{
		{0, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1},
	} {
		l := &recorder{plan: law.Plan{MinSamples: 2, MaxAge: time.Hour}}
		r := newLawRig(t, l, settings(5, nil), nil)
		for i := range c.served + c.refused {
			outcome := window.Overloaded
			if i < c.served {
				outcome = window.Success
			}
			r.done(r.must(1), outcome)
		}
		r.now += time.Second
		r.try(1)
		if l.closed() != c.want {
			t.Errorf("%d served and %d refused: %d windows closed, want %d", c.served, c.refused, l.closed(), c.want)
		}
	}
}

func TestWindowClosesEarlyAtMaxSamples(t *testing.T) {
	l := &recorder{plan: law.Plan{MaxSamples: 3}}
	r := newLawRig(t, l, settings(5, nil), nil)
	for i, want := range []int{0, 0, 1, 1, 1, 2} {
		r.now += ms
		r.done(r.must(1), window.Success)
		if l.closed() != want {
			t.Fatalf("%d windows closed after %d samples, want %d", l.closed(), i+1, want)
		}
	}
	if got := l.last().Samples; got != 3 {
		t.Errorf("the second window has %d samples, want its own 3", got)
	}
}

// If work takes longer than a window, none that starts in it ends in it.
func TestCarriedWorkMayCloseTheWindow(t *testing.T) {
	for _, carried := range []bool{false, true} {
		l := &recorder{limits: []float64{3}, plan: law.Plan{MinSamples: 2, Carried: carried}}
		r := newLawRig(t, l, settings(4, nil), nil)
		before := []*reply.Ticket{r.must(1), r.must(1)}
		r.done(r.must(1), window.Success)
		r.done(r.must(1), window.Success)
		r.now = time.Second
		r.try(1) // changes the limit: work begun before this is carried
		r.now += time.Second
		for _, ticket := range before {
			r.done(ticket, window.Success)
		}
		if got := l.closed() == 2; got != carried {
			t.Errorf("carried %v: %d windows closed", carried, l.closed())
		}
	}
}

func TestSettlingDelaysTheNextWindow(t *testing.T) {
	l := &recorder{limits: []float64{3}, plan: law.Plan{Settle: 500 * ms}}
	r := newLawRig(t, l, settings(2, nil), nil)
	r.done(r.must(1), window.Success)
	r.now = time.Second
	r.done(r.must(1), window.Success) // changes the limit, and starts too early to count
	for _, step := range []struct {
		at     time.Duration
		closed int
	}{{1400 * ms, 1}, {1600 * ms, 1}, {2499 * ms, 1}, {2500 * ms, 2}} {
		r.now = step.at
		r.done(r.must(1), window.Success)
		if l.closed() != step.closed {
			t.Errorf("at %v: %d windows closed, want %d", r.now, l.closed(), step.closed)
		}
	}
	if got := l.last().Samples; got != 2 {
		t.Errorf("%d samples, want the 2 that started once settled", got)
	}
}

func TestEarlierWorkDoesNotJudgeTheNewLimit(t *testing.T) {
	l := &recorder{limits: []float64{3}}
	r := newLawRig(t, l, settings(2, nil), nil)
	before := r.must(1)
	r.done(r.must(1), window.Success)
	r.now = time.Second
	after := r.must(1) // closes the window first
	r.now += 10 * ms
	r.done(before, window.Success)
	r.done(after, window.Success)
	r.now = 2 * time.Second
	r.try(1)
	if w := l.last(); l.closed() != 2 || w.Limit != 3 || w.Samples != 1 || w.Mean != 10*ms {
		t.Errorf("%d windows closed, the last with %+v", l.closed(), w)
	}
}

func TestAbsurdPlansAreBounded(t *testing.T) {
	endless := law.Plan{Settle: math.MaxInt64, Interval: math.MaxInt64, MaxAge: math.MaxInt64}
	for name, plan := range map[string]law.Plan{
		"endless":      endless,
		"many samples": {MinSamples: math.MaxInt},
		"negative":     {Settle: -1, Interval: -1, MinSamples: -1, MaxSamples: -1, MaxAge: -1},
	} {
		l := &recorder{plan: plan, limits: []float64{3, 4}}
		r := newLawRig(t, l, settings(5, nil), nil)
		r.now = ms
		for range 3 {
			r.now += ms
			r.done(r.must(1), window.Success)
		}
		if l.closed() != 0 {
			t.Errorf("%s: %d windows closed at once", name, l.closed())
		}
	}
}

func TestUpdateReportsEveryChange(t *testing.T) {
	s := settings(5, func(s *admit.Settings) { s.Observed = true })
	r := newLawRig(t, &recorder{limits: []float64{7}}, s, nil)
	r.done(r.must(1), window.Success)
	r.now = time.Second
	r.update(s, law.Fixed{}) // while a window is due
	if c := r.fx.Change; c == nil || c.Seq != 1 || len(r.node.History()) != 1 || !r.fx.Replaced {
		t.Errorf("reported %+v of %+v", c, r.node.History())
	}
}

func TestHistoryKeepsTheLastChanges(t *testing.T) {
	next := 0.0
	l := lawFunc(func(w law.Window) law.Decision {
		next++
		return law.Decision{Limit: next, Reason: law.Reason{Code: law.Above, Have: next}, Next: law.Plan{MaxSamples: 1}}
	})
	r := newLawRig(t, l, settings(1, nil), nil)
	for i := range 20 {
		if got, want := len(r.node.History()), min(i, 16); got != want {
			t.Fatalf("%d changes are kept, want %d", got, want)
		}
		r.now += ms
		r.done(r.must(1), window.Success)
	}
	history := r.node.History()
	for i, c := range history {
		to := 21 - len(history) + 1 + i
		if c.To != to || c.From != to-1 || c.Reason.Have != float64(to) || c.At != int64(to-1)*int64(ms) {
			t.Errorf("change %d is %+v, want it to %d", i, c, to)
		}
	}
	if s := r.state(); s.Raised != 20 || s.Cuts != 0 || s.Last.Have != 21 {
		t.Errorf("%d raised, %d cuts, the last for %v", s.Raised, s.Cuts, s.Last)
	}
}

// An update takes effect in the open window, and updates that come more often than windows close
// do not keep them open.
func TestUpdatesDoNotStopTheLaw(t *testing.T) {
	for name, c := range map[string]struct {
		from  admit.Settings
		often bool
	}{
		"a window of an hour": {settings(5, func(s *admit.Settings) { s.Interval, s.Lookback = time.Hour, time.Hour }), false},
		"a thousand samples":  {settings(5, func(s *admit.Settings) { s.MinSamples = 1000 }), false},
		"frequent updates":    {settings(5, nil), true},
	} {
		r := newLawRig(t, law.Band{Target: ms}, c.from, nil)
		r.update(settings(5, nil), law.Band{Target: ms}) // can be retuned
		for range 12 {
			ticket := r.must(1)
			r.now += 100 * ms
			r.done(ticket, window.Success)
			if c.often {
				r.update(settings(5, nil), law.Band{Target: ms})
			}
		}
		if got := r.state().Limit; got == 5 {
			t.Errorf("%s: the law never decided", name)
		}
	}
}
