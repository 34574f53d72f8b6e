package throttle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

// A digester drives the drain law with a store that digests 5 tables a second, of 100 writes each,
// so that 500 writes a second keep its backlog as it is.
type digester struct {
	law     controller
	drained float64
	limit   float64
}

const every = 100 * time.Millisecond

func digesting(t *testing.T) *digester {
	t.Helper()
	law, err := DrainRate{}.start("")
	if err != nil {
		t.Fatal(err)
	}
	d := &digester{law: law}
	for range 300 {
		d.next(9)
	}
	return d
}

// next is a decision after which the store has digested half a table.
func (d *digester) next(backlog float64) (rate float64) { return d.after(50, 0.5, backlog) }

// after is a decision after the given cost was admitted and the given amount digested.
func (d *digester) after(cost, drained, backlog float64) (rate float64) {
	d.drained += drained
	return d.law.next(signals{
		dt: every, cost: cost, fresh: true,
		drain: load.Drain{Drained: d.drained, Backlog: backlog, Target: 9, Limit: d.limit},
	}).rate
}

// saw has the store digest four tables at once, every 0.8 s, with its backlog at 7 to 10.5. It
// returns the slowest and the fastest pace of the second half.
func (d *digester) saw(teeth int) (least, most float64) {
	least = math.Inf(1)
	for i := range 8 * teeth {
		drained := 0.0
		if i%8 == 0 {
			drained = 4
		}
		rate := d.after(50, drained, 7+0.5*float64(i%8))
		if i >= 4*teeth {
			least, most = min(least, rate), max(most, rate)
		}
	}
	return least, most
}

// The teeth of a saw around the target move the rate by much less than the backlog of the
// moment would: by 0.7 of it.
func TestDrainRateGoesByTheMean(t *testing.T) {
	least, most := digesting(t).saw(20)
	if least < 420 || most > 600 || most-least > 100 {
		t.Errorf("from %v to %v, want about 500", least, most)
	}
}

// Admitted writes that are in no table yet count as if they were, so a flood is braked before it
// shows.
func TestDrainRateCountsWhatIsNotSeen(t *testing.T) {
	d := digesting(t)
	d.limit = 14
	before := d.next(9)
	if flooded := d.after(600, 0.5, 9); flooded > 0.5*before {
		t.Errorf("a pace of %v with 6 tables on their way, %v without", flooded, before)
	}
	if arrived := d.after(50, 6.5, 9); arrived < 0.9*before {
		t.Errorf("a pace of %v once all has arrived and is digested, %v before", arrived, before)
	}
}

// A store that needs seconds for its first digestion, as one that was just opened, gets soon what
// it digests after that. With a mean of the backlog over two of those seconds and more, it
// wrote 769.
func TestDrainRateFindsAStoreThatWasSlow(t *testing.T) {
	const table, limit, first = 100, 14.0, 2500 * time.Millisecond
	law, err := DrainRate{}.start("")
	if err != nil {
		t.Fatal(err)
	}
	rate, written, drained, backlog := 2000.0, 0.0, 0.0, 9.0
	for at := time.Duration(0); at < 2*first; at += every / 5 {
		cost := min(rate, 4000) * (every / 5).Seconds()
		backlog += cost / table
		if at > first {
			written += cost
			if backlog >= 5 { // fewer it leaves
				drained += math.Floor(backlog)
				backlog -= math.Floor(backlog)
			}
		}
		rate = law.next(signals{
			dt: every / 5, cost: cost, fresh: true,
			drain: load.Drain{Drained: drained, Backlog: math.Floor(backlog), Target: 9, Limit: limit},
		}).rate
		if rate == 0 {
			rate = 4000
		}
	}
	if written < 2500 {
		t.Errorf("%.0f of 10,000 written", written)
	}
}

// The rate while the store had nothing to do says nothing about how fast it digests.
func TestDrainRateForgetsIdleTime(t *testing.T) {
	d := digesting(t)
	for range 600 {
		d.after(0, 0, 0)
	}
	d.after(900, 0, 9)
	for i := range 8 {
		d.after(50, 0, 9+0.5*float64(i))
	}
	if rate := d.after(50, 4, 9); rate < 250 {
		t.Errorf("a pace of %v after a minute of nothing, want hundreds", rate)
	}
}

// Beyond its limit a store that still digests gets something to do.
func TestDrainRateLeavesSomething(t *testing.T) {
	d := digesting(t)
	d.limit = 14
	if got, want := d.next(30), 500*leastFactor; got < want/2 || got > 2*want {
		t.Errorf("a pace of %v, want about %v", got, want)
	}
}

// One number beyond all sense is forgotten in seconds.
func TestDrainRateForgetsAnAbsurdBacklog(t *testing.T) {
	for _, limit := range []float64{0, 14} {
		d := digesting(t)
		d.limit = limit
		d.next(math.MaxFloat64)
		rate := 0.0
		for range 50 {
			rate = d.next(9)
		}
		if rate < 450 || rate > 550 {
			t.Errorf("with a limit of %v, 5 s later: %v, want about 500", limit, rate)
		}
	}
}

// A store that is at ease again is let off step by step.
func TestDrainRateEasesStepByStep(t *testing.T) {
	d := digesting(t)
	var rates []float64
	for range 80 {
		rates = append(rates, d.after(50, 0.5, 0))
	}
	for _, second := range []int{4, 5, 6} {
		if got := rates[10*second] / rates[10*(second-1)]; math.Abs(got-2) > 0.1 {
			t.Errorf("in second %d the rate went up %v times, want 2", second, got)
		}
	}
	if rates[68] == 0 || rates[70] != 0 {
		t.Errorf("a pace of %v just before 7 s and of %v after, want one and none", rates[68], rates[70])
	}
}

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
