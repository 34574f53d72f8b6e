package sim_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// constant is a constant limit.
type constant struct {
	limit, inflight int
	told            map[sim.Outcome]int
	clock           func(time.Duration) // called with every time that the gate receives
}

func (c *constant) Limit() int { return c.limit }

func (c *constant) Acquire(now time.Duration) (func(time.Duration, sim.Outcome), bool) {
	c.clock(now)
	if c.inflight >= c.limit {
		return nil, false
	}
	c.inflight++
	return func(now time.Duration, how sim.Outcome) {
		c.clock(now)
		c.inflight--
		c.told[how]++
	}, true
}

// TestForeignLikeOurs checks that equal decisions give equal results.
func TestForeignLikeOurs(t *testing.T) {
	systems := append(suites.Named(), suites.Acceptance()...)
	for seed := range uint64(8) {
		systems = append(systems, suites.Random(9000+seed))
	}
	for _, s := range systems {
		for i := range s.Phases {
			s.Phases[i].Length = min(s.Phases[i].Length, time.Second)
		}
		s.Limiter.Initial = 150
		want := must.Have(sim.Run(s, law.Fixed{}, 3))(t)
		told := map[sim.Outcome]int{}
		got := must.Have(sim.RunForeign(s, sim.Foreign{Name: "fixed", New: func(l sim.Limiter) sim.Gate {
			return &constant{limit: l.Initial, told: told, clock: func(time.Duration) {}}
		}}, 3))(t)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", s.Name, got.Tally, want.Tally)
		}
		if told[sim.Success] != got.Good+got.Late || told[sim.Failure] != got.Failed ||
			told[sim.Timeout] != got.Cancelled {
			t.Errorf("%s: the gates were told %v of %+v", s.Name, told, got.Tally)
		}
	}
}

// TestForeignOutcomes checks that a gate hears of refusals by the server, and of answers to clients
// that have left, as the outcomes that it knows.
func TestForeignOutcomes(t *testing.T) {
	s := must.Have(suites.Lookup("kata"))(t)
	s.Clients = []sim.Client{{Leaves: true, SLO: 20 * time.Millisecond}}
	s.Phases[0].Refuse.Share = 0.2
	told := map[sim.Outcome]int{}
	r := must.Have(sim.RunForeign(s, sim.Foreign{New: func(sim.Limiter) sim.Gate {
		return &constant{limit: 100, told: told, clock: func(time.Duration) {}}
	}}, 1))(t)
	if r.Pushed == 0 || r.Late == 0 {
		t.Fatalf("%+v: the test needs refusals and late answers", r.Tally)
	}
	if want := map[sim.Outcome]int{sim.Success: r.Good + r.Late, sim.Failure: r.Failed + r.Pushed}; !maps.Equal(told, want) {
		t.Errorf("the gate heard %v of %+v", told, r.Tally)
	}
}

// TestForeignClock checks that in a bubble a limiter reads the clock of the simulation.
func TestForeignClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := must.Have(suites.Lookup("cancel30"))(t)
		start, calls := time.Now(), 0
		r, err := sim.RunForeign(s, sim.Foreign{Sleep: time.Sleep, New: func(sim.Limiter) sim.Gate {
			return &constant{limit: 30, told: map[sim.Outcome]int{}, clock: func(now time.Duration) {
				if calls++; time.Since(start) != now {
					t.Fatalf("told %v at %v", now, time.Since(start))
				}
			}}
		}}, 1)
		if err != nil || calls < 10_000 || r.Law != "*sim_test.constant" || time.Since(start) != 90*time.Second {
			t.Errorf("%s, %d calls in %v: %v", r.Law, calls, time.Since(start), err)
		}
	})
}

// mute has no limit to report.
type mute struct{}

func (mute) Limit() int { return 0 }

func (mute) Acquire(time.Duration) (func(time.Duration, sim.Outcome), bool) { return nil, false }

func TestForeignWithoutLimit(t *testing.T) {
	r, err := sim.RunForeign(suites.All()[0], sim.Foreign{New: func(sim.Limiter) sim.Gate { return mute{} }}, 1)
	if err != nil || r.Refused != r.Attempts || r.LimitMean != 0 || r.LimitCV != 0 || len(r.Changes) > 0 {
		t.Errorf("%+v, limit %v, varies %v: %v", r.Tally, r.LimitMean, r.LimitCV, err)
	}
}

func TestForeignBadInput(t *testing.T) {
	if _, err := sim.RunForeign(suites.All()[0], sim.Foreign{}, 1); err == nil ||
		!strings.Contains(err.Error(), "Foreign.New is missing") {
		t.Errorf("without gates: %v", err)
	}
	if _, err := sim.RunForeign(sim.Scenario{}, sim.Foreign{New: func(sim.Limiter) sim.Gate {
		return mute{}
	}}, 1); err == nil {
		t.Error("an empty scenario was run")
	}
}

// TestSameAsLive runs the same requests through a live limiter in a bubble and through the
// simulation: the limit changes in the same way for the same reasons.
func TestSameAsLive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	trace, at := sim.Trace{}, 0.0
	for range 6000 {
		at += r.ExpFloat64() * 3e6
		work := 20 * time.Millisecond
		if d := time.Duration(at); d > 6*time.Second && d < 10*time.Second {
			work = 90 * time.Millisecond
		}
		trace = append(trace, sim.Arrival{At: time.Duration(at), Work: work + time.Duration(r.Int64N(10e6))})
	}
	for _, l := range []law.Law{law.Band{Target: 40 * time.Millisecond}, law.Setpoint{}, law.Little{}} {
		for _, queue := range []weir.Queue{
			{}, {Size: 10, Timeout: 15 * time.Millisecond}, {Discipline: weir.Adaptive, Timeout: 50 * time.Millisecond},
		} {
			sameAsLive(t, trace, l, queue)
		}
	}
}

func sameAsLive(t *testing.T, trace sim.Trace, l law.Law, queue weir.Queue) {
	t.Helper()
	simulated := must.Have(sim.Run(sim.Scenario{
		Name: "live", Trace: trace, Server: sim.WorkerPool{Workers: 1e5}, SLO: time.Hour,
		Clients: []sim.Client{{Untold: true}}, // like a context without a deadline
		Limiter: sim.Limiter{Initial: 4, Window: 2 * time.Second, Queue: sim.Queue{
			Size: queue.Size, Timeout: queue.Timeout, Adaptive: queue.Discipline == weir.Adaptive,
		}},
		Phases: []sim.Phase{{Length: time.Minute}},
	}, l, 1))(t)
	changes, refused := live(t, trace, weir.Config{Initial: 4, Law: l, Window: 2 * time.Second, Queue: queue})
	var want []weir.Change
	for _, c := range simulated.Changes {
		want = append(want, weir.Change{From: c.From, To: c.To, Reason: c.Reason})
	}
	if len(want) < 5 || !slices.Equal(changes, want) {
		t.Errorf("%v, queue %+v: live\n%v\nsimulated\n%v", l, queue, changes, want)
	}
	if refused != simulated.Refused || refused == 0 {
		t.Errorf("%v, queue %+v: live %d refused, simulated %d", l, queue, refused, simulated.Refused)
	}
}

// live returns the changes of a live limiter, without their time, and its refusals.
func live(t *testing.T, trace sim.Trace, config weir.Config) (changes []weir.Change, refused int) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		config.OnEvent = func(e weir.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Kind == weir.LimitChanged {
				changes = append(changes, weir.Change{From: e.Change.From, To: e.Change.To, Reason: e.Change.Reason})
			}
		}
		limiter, err := weir.New(config)
		if err != nil {
			t.Error(err)
			return
		}
		var all sync.WaitGroup
		for _, a := range trace {
			all.Go(func() {
				time.Sleep(a.At)
				permit, err := limiter.Acquire(t.Context())
				if errors.Is(err, weir.ErrRefused) {
					mu.Lock()
					refused++
					mu.Unlock()
					return
				}
				time.Sleep(a.Work)
				permit.Done(nil)
			})
		}
		all.Wait()
	})
	return changes, refused
}
