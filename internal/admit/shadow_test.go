package admit_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// workers do the work that a node admits.
type workers struct {
	*rig
	random  *rand.Rand
	free    []time.Duration // when each of them is free
	busy    []job           // current and future jobs, by their end
	waiting []job
}

type job struct {
	*request // the request, if it waited
	ticket   *reply.Ticket
	takes    time.Duration
	ends     time.Duration
}

// arrive makes requests arrive until the given time, with the given mean interval. Each takes
// 100 ms in the mean.
func (w *workers) arrive(every, until time.Duration) {
	for w.now < until {
		gap, takes := w.random.ExpFloat64()*float64(every), w.random.ExpFloat64()*float64(100*ms)
		w.pass(w.now + time.Duration(gap))
		j := job{takes: time.Duration(takes)}
		var verdict reply.Verdict
		switch j.ticket, verdict = w.ask(admit.Work{Weight: 1}); verdict {
		case reply.Admitted:
			w.start(j)
		case reply.MustWait:
			j.request = w.join()
			w.waiting = append(w.waiting, j)
		}
	}
}

// start gives work to the worker that is free first.
func (w *workers) start(j job) {
	slices.Sort(w.free)
	w.free[0] = max(w.free[0], w.now) + j.takes
	j.ends = w.free[0]
	at, _ := slices.BinarySearchFunc(w.busy, j.ends, func(o job, ends time.Duration) int { return cmp.Compare(o.ends, ends) })
	w.busy = slices.Insert(w.busy, at, j)
}

// pass lets work end until the given time.
func (w *workers) pass(until time.Duration) {
	for len(w.busy) > 0 && w.busy[0].ends <= until {
		ended := w.busy[0]
		w.busy = w.busy[1:]
		w.now = max(w.now, ended.ends)
		w.done(ended.ticket, window.Success)
		w.waiting = slices.DeleteFunc(w.waiting, func(j job) bool {
			if j.Verdict == reply.Admitted {
				j.ticket = &j.Ticket
				w.start(j)
			}
			return j.Verdict != reply.Waiting
		})
	}
	w.now = until
}

// In shadow mode a node would refuse the same as a live one, whether the limit is above or
// below the server's capacity, and whether or not the load is above it.
func TestShadowRefusesWhatALiveNodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name         string
		limit, queue int
		every        time.Duration // ten workers do 100 a second
	}{
		{"at rest", 12, 0, 20 * ms},
		{"a limit below the workers, at rest", 2, 0, 20 * ms},
		{"that with a queue", 2, 3, 20 * ms},
		{"overload", 12, 0, 8 * ms},
		{"twice the load", 12, 0, 5 * ms},
		{"that with a queue", 12, 10, 5 * ms},
		{"a limit below the workers, overload", 5, 0, 8 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := func(shadow bool, seed uint64) uint64 {
				r := newRig(t, c.limit, func(s *admit.Settings) { s.Shadow, s.QueueSize = shadow, c.queue })
				w := &workers{rig: r, free: make([]time.Duration, 10), random: rand.New(rand.NewPCG(seed, 0))}
				w.arrive(20*ms, 20*time.Second) // the server has room
				before := r.state()
				w.arrive(c.every, 60*time.Second)
				after := r.state()
				n := after.WouldRefuse - before.WouldRefuse
				for _, reason := range []reply.Verdict{reply.QueueFull, reply.LimitReached} {
					n += after.Refused[reason] - before.Refused[reason]
				}
				return n
			}
			live, shadow := uint64(0), uint64(0)
			for seed := range uint64(10) {
				live += refused(false, seed)
				shadow += refused(true, seed)
			}
			points := 100 / (10 * float64(40*time.Second/c.every))
			if live, shadow := points*float64(live), points*float64(shadow); math.Abs(shadow-live) > 3 {
				t.Errorf("would refuse %.1f%%, refuses %.1f%%", shadow, live)
			} else {
				t.Logf("would refuse %.1f%%, refuses %.1f%%", shadow, live)
			}
		})
	}
}

// shadowRig is a node in shadow mode.
func shadowRig(t *testing.T, limit int, change func(*admit.Settings)) *rig {
	t.Helper()
	return newRig(t, limit, func(s *admit.Settings) {
		s.Shadow, s.QueueSize = true, 0
		if change != nil {
			change(s)
		}
	})
}

// would runs work in shadow mode and returns the verdict of a live node.
func (r *rig) would(weight int) (*reply.Ticket, reply.Verdict) {
	r.t.Helper()
	ticket := r.must(weight)
	return ticket, r.fx.WouldRefuse
}

// wantWould runs work in shadow mode and checks the verdict of a live node.
func (r *rig) wantWould(weight int, verdict reply.Verdict) *reply.Ticket {
	r.t.Helper()
	ticket, got := r.would(weight)
	if got != verdict {
		r.t.Errorf("at %v: work would be %v, want %v", r.now, got, verdict)
	}
	return ticket
}

// hangs ends work of 10 ms without load, and then makes work that takes the whole limit hang.
// It returns the first ticket, and the others of work that a live node would have refused.
func (r *rig) hangs(limit, more int) (first *reply.Ticket, others []*reply.Ticket) {
	for range 100 {
		ticket := r.wantWould(1, reply.Admitted)
		r.now += 10 * ms
		r.done(ticket, window.Success)
	}
	first = r.wantWould(limit, reply.Admitted)
	for range more {
		others = append(others, r.wantWould(1, reply.LimitReached))
	}
	return first, others
}

// Behind an overload, where none of the work that would have run ends any more, the end of
// any work frees the oldest slot.
func TestShadowSlotEndsInPlaceOfWork(t *testing.T) {
	r := shadowRig(t, 2, nil)
	_, others := r.hangs(2, 5)
	r.now += 5 * ms // in which work for 10 ms on two slots ends once
	r.done(others[0], window.Timeout)
	r.wantWould(1, reply.LimitReached) // the server may not have done it
	r.done(others[1], window.Success)
	r.done(others[2], window.Success) // but not twice
	r.wantWould(1, reply.Admitted)
	r.wantWould(1, reply.LimitReached)
	r.now += 10 * ms
	r.done(others[3], window.Failure) // it was done, though in vain
	r.wantWould(1, reply.Admitted)
}

// Credit saved up under one limit ends no work under the next: a law that lowers the limit
// would take the server for quicker than it is.
func TestShadowForgetsCredit(t *testing.T) {
	r := shadowRig(t, 4, nil)
	_, others := r.hangs(4, 8)
	r.now += 50 * ms
	for _, ticket := range others[:4] { // the server does as much work as four slots hold
		r.done(ticket, window.Success)
	}
	r.wantWould(4, reply.Admitted)
	r.now += 50 * ms
	r.update(settings(2, func(s *admit.Settings) { s.Shadow, s.QueueSize, s.Bounds.Max = true, 0, 2 }), law.Fixed{})
	r.done(others[4], window.Success)
	r.done(others[5], window.Success) // no work of the new limit can have ended yet
	r.now += 10 * ms
	r.done(others[6], window.Success)
	r.done(others[7], window.Success)
	r.wantWould(1, reply.LimitReached) // with two of the four left
}

// However much credit is left, work that has just started does not end in place of other
// work.
func TestShadowSlotHasItsTime(t *testing.T) {
	r := shadowRig(t, 4, nil)
	first, others := r.hangs(4, 3)
	r.now += 100 * ms
	r.done(first, window.Success)
	r.wantWould(4, reply.Admitted)
	r.done(others[0], window.Success)
	r.now += 4 * ms
	r.done(others[1], window.Success)
	r.wantWould(1, reply.LimitReached)
	r.now += 2 * ms
	r.done(others[2], window.Success)
	r.wantWould(1, reply.Admitted)
}

// The law sees the same as in a live node; a snapshot has the real work.
func TestShadowShowsTheLawVirtualWork(t *testing.T) {
	l := &recorder{}
	r := newLawRig(t, l, settings(2, func(s *admit.Settings) { s.Shadow, s.QueueSize = true, 0 }), nil)
	for range 10 {
		a, b := r.wantWould(1, reply.Admitted), r.wantWould(1, reply.Admitted)
		c := r.wantWould(1, reply.LimitReached)
		r.now += 100 * ms
		r.done(c, window.Failure)
		r.done(a, window.Success)
		r.now += 10 * ms
		r.done(b, window.Success)
	}
	w := l.last()
	if w.Peak != 2 || w.Failures != 0 || w.Samples < 18 || w.Refused < 9 || w.Saturated < 0.85 || w.InFlight > 2 {
		t.Errorf("the law sees %+v", w)
	}
	if s := r.state(); s.Recent.Failures != 10 || s.Recent.Samples != 20 || s.InFlight != 0 {
		t.Errorf("a snapshot has %+v", s)
	}
}

// Virtual work has its time in the queue, too. A timeout is counted when that is up.
func TestShadowQueue(t *testing.T) {
	r := shadowRig(t, 1, func(s *admit.Settings) { s.QueueSize, s.Observed = 2, true })
	first := r.wantWould(1, reply.Admitted)
	second := r.wantWould(1, reply.Admitted) // it would wait
	third := r.wantWould(1, reply.Admitted)
	r.wantWould(1, reply.QueueFull)
	r.now += 600 * ms
	r.done(first, window.Success) // the second would start, and here has run for long
	r.wantWould(1, reply.Admitted)
	r.wantWould(1, reply.QueueFull)
	r.now += 700 * ms
	r.done(second, window.Success)
	want := []admit.Lapse{{Why: reply.QueueTimeout, Seq: 3}} // the third after a second, the fourth not yet
	if !slices.Equal(r.fx.Lapsed, want) {
		t.Errorf("would have lapsed: %v", r.fx.Lapsed)
	}
	r.now += time.Second
	r.done(third, window.Success)
	if s := r.state(); s.WouldRefuse != 4 || s.Queued != 0 {
		t.Errorf("would refuse %d: want two at once and two in the queue", s.WouldRefuse)
	}
}

// Virtual work that waits for a pace starts when the pace lets it, even without a call at
// that time.
func TestShadowPace(t *testing.T) {
	r := shadowRig(t, 100, func(s *admit.Settings) { s.QueueSize = 5 })
	now, fx := r.call()
	r.node.SetPace(admit.Pace{Rate: 10, Burst: 1}, now, fx)
	for range 3 {
		for range 6 { // one starts, and five within half a second
			r.wantWould(1, reply.Admitted)
		}
		r.wantWould(1, reply.QueueFull)
		r.now += 600 * ms
	}
	if got := r.state().WouldRefuse; got != 3 {
		t.Errorf("would refuse %d: want 3", got)
	}
}

// Virtual work found to have ended long ago does not turn the clock back: the real work is
// still measured.
func TestShadowKeepsTheTime(t *testing.T) {
	r := newRig(t, 2, func(s *admit.Settings) { s.Shadow, s.QueueTimeout = true, time.Hour })
	for range 100 { // 10 ms without load
		ticket := r.must(1)
		r.now += 10 * ms
		r.done(ticket, window.Success)
	}
	long, other, waits := r.must(1), r.must(1), r.must(1)
	r.now += 10 * time.Second
	r.done(waits, window.Ignore)  // its virtual work waits on
	r.done(other, window.Success) // and starts, so that more is in flight than runs
	r.now += ms
	r.done(long, window.Success)
	if s := r.state(); s.Recent.Samples != 2 || s.Recent.Mean < 10*time.Second {
		t.Errorf("%d samples of %v: want two of 10s", s.Recent.Samples, s.Recent.Mean)
	}
}
