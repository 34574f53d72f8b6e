package throttle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

// An lsm is a store in the manner of Badger, simulated. A digestion takes all tables of level 0,
// from five on. When it ends they are gone, and before the next begins the level below is put in
// order, which takes time for each of them too.
type lsm struct {
	random   *rand.Rand
	memtable float64 // its content, in tables
	full     int     // memtables on their way to level 0
	tables   int     // of level 0
	taken    int     // of these, by the digestion that goes on
	work     float64 // until it or its successor ends, in seconds
	follows  bool
	drained  float64
}

// The stall and the times come from traces of Badger 4.9 with memtables of 1 MiB on two
// processors.
const (
	leastTables = 5
	stallTables = 15
	memtables   = 5
	digestion   = 0.1 // seconds, and for each table
	ofTable     = 0.025
	ofBelow     = 0.04
	jitter      = 0.15 // of the logarithm of the work
)

// pass lets time pass.
func (s *lsm) pass(dt float64) {
	if s.memtable >= 1 && s.full < memtables {
		s.memtable--
		s.full++
	}
	if s.full > 0 && s.tables < stallTables {
		s.full--
		s.tables++
	}
	s.work -= dt
	switch {
	case s.work > 0:
	case s.taken > 0:
		s.tables -= s.taken
		s.drained += float64(s.taken)
		s.work, s.taken, s.follows = s.of(ofBelow*float64(s.taken)), 0, true
	case s.tables >= leastTables:
		s.taken = s.tables
		s.work = s.of(digestion + ofTable*float64(s.taken))
	}
}

func (s *lsm) of(work float64) float64 { return work * math.Exp(jitter*s.random.NormFloat64()) }

// stalls reports whether a write has to wait inside the store.
func (s *lsm) stalls() bool { return s.memtable >= 1 && s.full >= memtables }

// A digested storm is how fast writers in a closed loop wrote, how long 99 of a hundred waited at
// most, and for how much of the time the store was at its stall.
type digestedStorm struct{ rate, wait, stalled float64 }

// digest lets writers loose on a simulated store, behind a drain law if target is not 0.
func digest(t *testing.T, target float64, writers int, seed uint64) digestedStorm {
	const (
		step, tick       = 0.001, 20 // seconds, and steps between two decisions
		ofATable, atOnce = 200, 7000 // writes, and of them a second at most
		warmUp, ends     = 4.0, 24.0
	)
	law, err := DrainRate{}.start("")
	if err != nil {
		t.Fatal(err)
	}
	var (
		s            = lsm{random: rand.New(rand.NewPCG(seed, 0))}
		rate, tokens = float64(atOnce), 0.0
		cost         float64
		began, waits []float64
		stalled      float64
	)
	for i := 1; float64(i)*step < ends; i++ {
		now := float64(i) * step
		for tokens = min(tokens+rate*step, max(rate*tick*step, 1)); tokens >= 1 && !s.stalls(); tokens-- {
			s.memtable += 1.0 / ofATable
			cost++
			if began = append(began, now); now > warmUp && len(began) > writers {
				waits = append(waits, now-began[len(began)-1-writers])
			}
		}
		if s.pass(step); now > warmUp && s.tables >= stallTables {
			stalled += step
		}
		if i%tick > 0 || target == 0 {
			continue
		}
		rate = law.next(signals{
			dt: 20 * time.Millisecond, cost: cost, fresh: true,
			drain: load.Drain{Drained: s.drained, Backlog: float64(s.tables), Target: target, Limit: stallTables - 1},
		}).rate
		if cost = 0; rate == 0 {
			rate = atOnce
		}
	}
	slices.Sort(waits)
	return digestedStorm{float64(len(waits)) / (ends - warmUp), waits[len(waits)*99/100], stalled / (ends - warmUp)}
}

// A store whose level 0 is a saw is held off its stall, and loses little for it. The lower the
// target, the shorter are the waits and the less is written: decision 0042.
func TestDrainRateHoldsASawOffItsStall(t *testing.T) {
	const writers = 80
	for seed := range uint64(5) {
		none := digest(t, 0, writers, seed)
		for _, c := range []struct{ target, rate, wait float64 }{{0.6, 0.9, 3.5}, {0.5, 0.85, 2}} { // of none, and of an even pace
			paced := digest(t, c.target*stallTables, writers, seed)
			rate, wait := paced.rate/none.rate, paced.wait*paced.rate/writers
			t.Logf("seed %d, target %v: %.2f of the writes, the p99 of the wait %.1f times that of an even pace", seed, c.target, rate, wait)
			if rate < c.rate || wait > c.wait || paced.stalled > 0 {
				t.Errorf("seed %d, target %v: %.2f of the writes, a p99 %.1f times that of an even pace, at the stall for %.2f; want at least %v, at most %v, never",
					seed, c.target, rate, wait, paced.stalled, c.rate, c.wait)
			}
		}
		if none.stalled < 0.5 {
			t.Errorf("seed %d: without a throttle at the stall for %.2f of the time: the storm is none", seed, none.stalled)
		}
	}
}
