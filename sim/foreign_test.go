package sim_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
