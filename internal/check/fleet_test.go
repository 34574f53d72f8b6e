package check

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/lease"
	"github.com/weir-go/weir/internal/longtest"
)

var fleetSeeds = flag.Int("fleet-seeds", 0, "seeds of each simulated fleet")

func newFleetWorld(seed uint64, members, slots int, f lease.Fallback) *fleetWorld {
	w := &fleetWorld{seed: seed, Rand: rand.New(rand.NewPCG(seed, uint64(members))), owners: map[string]*fleetMember{}}
	w.store.entries = map[string]lease.Entry{}
	w.conf = lease.Config{
		Cap: slots, Weight: 1, Fallback: f,
		Refresh: time.Second, TTL: 10 * time.Second, Grace: longestWork, Forget: 10 * time.Minute,
	}
	for range members {
		w.after(w.between(0, 3*time.Second), func() { w.join().demand() })
	}
	return w
}

// TestFleetStaysBelowTheCap simulates fleets whose messages are late or lost and whose clocks run
// apart. Members and allocators are cut off, stopped and killed, and the store forgets its last
// seconds. Neither the held nor the running slots ever pass the cap.
func TestFleetStaysBelowTheCap(t *testing.T) {
	staysBelowTheCap(t, 3, 60, 150) // the rarest mutant dies at seed 101
	staysBelowTheCap(t, 30, 600, 8)
}

// TestLargeFleetStaysBelowTheCap is apart, because mutants need only the small ones.
func TestLargeFleetStaysBelowTheCap(t *testing.T) {
	longtest.Skip(t)
	staysBelowTheCap(t, 300, 3000, 1)
	staysBelowTheCap(t, 1000, 5000, 1)
}

func staysBelowTheCap(t *testing.T, members, slots, seeds int) {
	seeds = max(seeds, *fleetSeeds)
	for _, fallback := range []lease.Fallback{lease.Keep, lease.Refuse} {
		t.Run(fmt.Sprintf("%d/%v", members, fallback), func(t *testing.T) {
			used := 0.0
			for seed := range seeds {
				w := newFleetWorld(uint64(seed), members, slots, fallback)
				w.after(30*time.Second, w.faults)
				used += w.heldTheCap(t) / float64(seeds)
			}
			t.Logf("%.0f%% of the work ran that the cap has room for", 100*used)
			if used < 0.4 { // something is wrong all the time, and each election takes shares for a while
				t.Errorf("only %.0f%% of the work ran that the cap has room for", 100*used)
			}
		})
	}
}

// heldTheCap runs four minutes, and returns the part of the work that ran of what the cap has room
// for.
func (w *fleetWorld) heldTheCap(t *testing.T) (used float64) {
	t.Helper()
	w.after(30*time.Second, w.use)
	w.run(240 * time.Second)
	if w.worst > 0 || len(w.violations) > 0 {
		t.Fatalf("seed %d: up to %d above the cap, for %v; %v", w.seed, w.worst, w.over, w.violations)
	}
	return w.used / w.useful
}

// TestFleetClocksJump sets clocks of members an hour forward, also that of the allocator. A clock
// that is set back has no effect, as package fleet reads the monotonic clock too.
func TestFleetClocksJump(t *testing.T) {
	const seeds = 5
	used := 0.0
	for seed := range uint64(seeds) {
		w := newFleetWorld(seed, 10, 100, lease.Keep)
		w.after(30*time.Second, w.jumps)
		used += w.heldTheCap(t) / seeds
	}
	if t.Logf("%.0f%% of the work ran that the cap has room for", 100*used); used < 0.4 {
		t.Errorf("only %.0f%% of the work ran that the cap has room for", 100*used)
	}
}

// TestFleetLendsToABurst gives one member far more work than an equal part, while the others are at
// 60%: it gets 95% of what they leave within 5 refreshes.
func TestFleetLendsToABurst(t *testing.T) {
	for _, fleet := range []struct{ members, slots int }{{3, 60}, {30, 600}, {300, 3000}} {
		t.Run(fmt.Sprint(fleet.members), func(t *testing.T) {
			for seed := range uint64(5) {
				w := newFleetWorld(seed, fleet.members, fleet.slots, lease.Keep)
				w.run(60 * time.Second)
				w.steady = true
				need := fleet.slots * 6 / 10 / fleet.members
				for _, m := range w.alive {
					m.need = need
				}
				w.run(90 * time.Second)
				burst := w.alive[0]
				burst.need = fleet.slots
				fair := fleet.slots - need*(fleet.members-1)
				start := w.now
				for float64(burst.share) < 0.95*float64(fair) && w.now < start+time.Minute {
					w.run(w.now + 50*time.Millisecond)
				}
				t.Logf("seed %d: %d of %d after %v", seed, burst.share, fair, w.now-start)
				if w.now-start > 5*w.conf.Refresh {
					t.Errorf("seed %d: %d of %d took %v", seed, burst.share, fair, w.now-start)
				}
			}
		})
	}
}
