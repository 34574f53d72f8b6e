package peers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// TestSameAsSim runs constant limits in the loop and in sim: the same becomes of the same
// requests. So a peer in the loop and a law in sim may stand in one table.
func TestSameAsSim(t *testing.T) {
	systems := append(sim.Named(), sim.Gates()...)
	for seed := range uint64(20) {
		systems = append(systems, sim.Random(sim.DefaultRanges, 9000+seed))
	}
	for _, s := range systems {
		for _, limit := range []int{20, 150} {
			s.Limiter.Initial = limit
			want, err := sim.Run(s, law.Fixed{}, 3)
			if err != nil {
				t.Fatal(err)
			}
			requests, err := record(complete(s), 3)
			if err != nil {
				t.Fatal(err)
			}
			got, err := run(s, requests, 3, func(b sim.Limiter, _ *processor) gate { return &constant{most: b.Initial} }, nil)
			if err != nil {
				t.Fatal(err)
			}
			if tally := (sim.Tally{
				Requests: len(requests), Attempts: got.attempts, Good: got.good(), Late: got.late,
				Failed: got.failed, Refused: got.refusals, Cancelled: got.cancels,
			}); tally != want.Tally {
				t.Errorf("%s, limit %d:\nloop %+v\nsim  %+v", s.Name, limit, tally, want.Tally)
			}
		}
	}
}

// TestSameScore has the loop and sim score the same run.
func TestSameScore(t *testing.T) {
	for _, name := range []string{"gate-overload", "slow30", "cancel30"} {
		s, err := sim.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		s.Limiter.Initial = 60
		o, err := sweep(s, 5)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := sim.Run(s, law.Fixed{}, 5)
		if err != nil {
			t.Fatal(err)
		}
		want, err := o.Score(theirs)
		if err != nil {
			t.Fatal(err)
		}
		run, err := run(s, o.requests, 5, func(b sim.Limiter, _ *processor) gate { return &constant{most: b.Initial} }, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := o.score(want.Law, run)
		if near := got.P99Ratio / want.P99Ratio; near < 0.98 || near > 1.02 { // sim has a histogram
			t.Errorf("%s: p99 ratio %v, sim %v", name, got.P99Ratio, want.P99Ratio)
		}
		if got.Goodput != want.Goodput || got.Convergence != want.Convergence || got.FalseRefused != want.FalseRefused ||
			got.Refused != want.Refused || got.Late != want.Late || got.LimitMean != want.LimitMean {
			t.Errorf("%s:\nloop %+v\nsim  %+v", name, got, want)
		}
	}
}

// TestRepeats runs each peer twice in bubbles: its code reads no other clock than theirs.
func TestRepeats(t *testing.T) {
	s, err := sim.Lookup("gate-overload")
	if err != nil {
		t.Fatal(err)
	}
	requests, err := record(complete(s), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		first, again := bubble(t, p, s, requests, 1), bubble(t, p, s, requests, 1)
		if first.good() != again.good() || first.refusals != again.refusals {
			t.Errorf("%s: %d good, %d refused, and then %d and %d", p.name, first.good(), first.refusals, again.good(), again.refusals)
		}
	}
}

// bubble runs a system under a peer's code.
func bubble(t *testing.T, p peer, s sim.Scenario, requests []request, seed uint64) (r *result) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = run(s, requests, seed, p.gate, time.Sleep); err != nil {
			t.Fatal(err)
		}
	})
	return r
}
