package admit_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// A restful law keeps its limit, and lets the slots of refused work rest.
type restful struct{ rest time.Duration }

func (l restful) Controller(law.Bounds) (law.Controller, error) { return l, nil }
func (l restful) Next(w law.Window) law.Decision {
	return law.Decision{Limit: float64(w.Limit), Next: law.Plan{Rest: l.rest}}
}

func newRestfulRig(t *testing.T, limit int, rest time.Duration) *rig {
	t.Helper()
	return newLawRig(t, restful{rest}, settings(limit, nil), nil)
}

// The slot of refused work stays taken until the plan's time since the start of the work. The
// first waiter looks again then, although no other call comes.
func TestSlotsOfRefusedWorkRest(t *testing.T) {
	r := newRestfulRig(t, 2, 50*ms)
	refused, served := r.must(1), r.must(1)
	first, second := r.join(), r.join()
	r.now = 10 * ms
	r.done(refused, window.Overloaded)
	if s := r.state(); s.InFlight != 1 || s.Resting != 1 || first.rechecked != 1 {
		t.Fatalf("%d in flight, %d resting, rechecked %d times, want 1, 1 and 1", s.InFlight, s.Resting, first.rechecked)
	}
	if s := r.node.State(int64(50 * ms)); s.Resting != 0 {
		t.Errorf("%d rest at the end of their time, and nothing has come since", s.Resting)
	}
	now, fx := r.call()
	if v := r.node.Recheck(&first.Waiter, true, now, fx); v != reply.Waiting || first.Patience(now) != 40*ms {
		t.Errorf("%v, and to look in %v, want to wait for 40 ms", v, first.Patience(now))
	}
	r.now = 20 * ms
	r.done(served, window.Success) // another slot does not rest
	want(t, reply.Admitted, first)
	want(t, reply.Waiting, second)
	r.now = 50 * ms
	now, fx = r.call()
	if v := r.node.Recheck(&second.Waiter, false, now, fx); v != reply.Admitted {
		t.Errorf("%v after the rest", v)
	}
	if s := r.state(); s.InFlight != 2 || s.Resting != 0 {
		t.Errorf("%d in flight, %d resting, want 2 and 0", s.InFlight, s.Resting)
	}
}

// Work that took as long as the rest leaves no rest, nor does work that was not refused, and a
// law that plans none, or a shadow, lets no slot rest.
func TestSlotsThatDoNotRest(t *testing.T) {
	for name, c := range map[string]struct {
		rest, took time.Duration
		outcome    window.Outcome
		shadow     bool
	}{
		"slow":   {rest: 50 * ms, took: 50 * ms, outcome: window.Overloaded},
		"failed": {rest: 50 * ms, outcome: window.Failure},
		"none":   {rest: 0, outcome: window.Overloaded},
		"past":   {rest: -time.Hour, outcome: window.Overloaded},
		"shadow": {rest: 50 * ms, outcome: window.Overloaded, shadow: true},
	} {
		r := newLawRig(t, restful{c.rest}, settings(1, func(s *admit.Settings) { s.Shadow = c.shadow }), nil)
		ticket := r.must(1)
		r.now = c.took
		r.done(ticket, c.outcome)
		if s := r.state(); s.Resting != 0 {
			t.Errorf("%s: %d resting", name, s.Resting)
		}
		r.must(1)
	}
}

// The time after the end of a rest is idle, also if no call comes until long after.
func TestTheTimeAfterARestIsIdle(t *testing.T) {
	l := &recorder{plan: law.Plan{Rest: 100 * ms}}
	r := newLawRig(t, l, settings(1, nil), nil)
	r.done(r.must(1), window.Overloaded)
	r.now = 900 * ms
	ticket := r.must(1)
	r.now = time.Second
	r.done(ticket, window.Success)
	within(t, "saturated", l.last().Saturated, 0.2, 0.001)
	within(t, "saturated seconds", l.last().Held.Elapsed.Seconds(), 0.2, 0.001)
}

// A clock that is turned back ends all rests.
func TestRestsEndWhenTheClockIsTurnedBack(t *testing.T) {
	r := newRestfulRig(t, 1, time.Hour)
	r.now = 10 * time.Second
	r.done(r.must(1), window.Overloaded)
	if v := r.try(1); v != reply.LimitReached {
		t.Fatalf("%v while the slot rests", v)
	}
	r.now = 0
	r.must(1)
}

// A new law's plan applies from then on.
func TestRestsOfANewLaw(t *testing.T) {
	r := newRestfulRig(t, 2, 50*ms)
	r.done(r.must(1), window.Overloaded)
	r.update(settings(2, nil), law.Fixed{})
	r.done(r.must(1), window.Overloaded)
	if s := r.state(); s.Resting != 1 {
		t.Errorf("%d resting, want the first only", s.Resting)
	}
}

// After any calls, the node admits work exactly if the work in flight and the rests of a plain
// list leave room.
func TestRestsMatchAList(t *testing.T) {
	const limit = 6
	random := rand.New(rand.NewPCG(59, 61))
	for range 500 {
		r := newRestfulRig(t, limit, 20*ms)
		type piece struct {
			ticket *reply.Ticket
			start  time.Duration
			weight int
		}
		var running []piece
		rests := map[time.Duration]int{}
		taken := func() (sum int) {
			for until, weight := range rests {
				if until > r.now {
					sum += weight
				}
			}
			for _, p := range running {
				sum += p.weight
			}
			return sum
		}
		for range 100 {
			r.now += time.Duration(random.IntN(8)) * ms
			if len(running) > 0 && random.IntN(2) == 0 {
				p := running[0]
				running = running[1:]
				outcome := []window.Outcome{window.Success, window.Overloaded}[random.IntN(2)]
				r.done(p.ticket, outcome)
				if outcome == window.Overloaded {
					rests[p.start+20*ms] += p.weight
				}
				continue
			}
			weight := 1 + random.IntN(3)
			fits := taken()+weight <= limit
			ticket, got := r.ask(admit.Work{Weight: weight, NoWait: true})
			if (got == reply.Admitted) != fits {
				t.Fatalf("at %v: %v of weight %d beside %d", r.now, got, weight, taken())
			}
			if fits {
				running = append(running, piece{ticket, r.now, weight})
			}
		}
	}
}
