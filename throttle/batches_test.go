package throttle_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// A batcher is a plant that digests as Badger does. A hundred writes make a memtable, which is a
// table of level 0 some time later. A compaction takes all tables that it finds, in a time that is
// not proportional to them, because the level below is rewritten too: so more at a time are faster.
// It stalls at 15.
type batcher struct {
	plant
	flushing []time.Duration // for how much longer
	tables   int
	taken    int           // by the compaction that runs
	left     time.Duration // of it
	stalls   int           // polls at the stall
}

const (
	batcherFlush  = 60 * time.Millisecond
	batcherStall  = 15
	batcherFixed  = 250 * time.Millisecond
	batcherEach   = 30 * time.Millisecond
	batcherBest   = 7 // tables at a time: as many arrive meanwhile, and 15 are not reached
	batcherStarts = 5
)

func newBatcher() *batcher {
	b := &batcher{}
	written, drained, last := 0.0, 0, time.Now()
	b.poll = func() (load.Sample, error) {
		dt := time.Since(last)
		last = time.Now()
		for written += b.plant.taken() / 100; written >= 1; written-- {
			b.flushing = append(b.flushing, batcherFlush)
		}
		b.flush(dt)
		if b.left -= dt; b.left <= 0 {
			b.tables, drained = b.tables-b.taken, drained+b.taken
			b.taken = 0
			if b.tables >= batcherStarts {
				b.taken, b.left = b.tables, batcherFixed+time.Duration(b.tables)*batcherEach
			}
		}
		if b.tables >= batcherStall {
			b.stalls++
		}
		s := sampled(float64(b.tables) / batcherStall)
		s.Drain = &load.Drain{Drained: float64(drained), Backlog: float64(b.tables), Target: 9, Limit: batcherStall - 1}
		return s, nil
	}
	return b
}

// flush makes tables of memtables.
func (b *batcher) flush(dt time.Duration) {
	rest := b.flushing[:0]
	for _, left := range b.flushing {
		if left -= dt; left > 0 {
			rest = append(rest, left)
		} else {
			b.tables++
		}
	}
	b.flushing = rest
}

// TestDrainRateFindsTheRate: the law finds the rate of a bucket set by hand, and the store never
// stalls, not even before it is seen to digest.
func TestDrainRateFindsTheRate(t *testing.T) {
	for _, writers := range []int{8, 64, 512} {
		synctest.Test(t, func(t *testing.T) {
			b := newBatcher()
			r := run(t, &b.plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
			each := time.Duration(writers) * 250 * time.Microsecond // 40 tables a second if they are let
			r.closedLoop(writers, each, 5*time.Second)
			during := 20.0
			writes := float64(r.closedLoop(writers, each, time.Duration(during)*time.Second))
			best := batcherBest * 100 / (batcherFixed + batcherBest*batcherEach).Seconds()
			if writes < 0.85*best*during {
				t.Errorf("%d writers: %v writes/s, want 0.85 of the best, %v", writers, writes/during, best)
			}
			if s := r.Snapshot().Writes; b.stalls > 0 || s.Emergencies > 0 {
				t.Errorf("%d writers: %d samples at the stall, %d emergencies", writers, b.stalls, s.Emergencies)
			}
		})
	}
}

// TestDrainRateAndEmergencies: a store that is at its stall begins no emergency, for the law paces
// by that, and memory that is full does.
func TestDrainRateAndEmergencies(t *testing.T) {
	for _, drains := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := &plant{}
			p.become(func() (load.Sample, error) {
				s := sampled(1.5)
				if drains {
					s.Drain = &load.Drain{Backlog: 15, Target: 9, Limit: 14}
				}
				return s, nil
			})
			r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
			r.closedLoop(4, 10*time.Millisecond, time.Second)
			if s := r.Snapshot().Writes; (s.Emergencies > 0) == drains {
				t.Errorf("the source tells a drain: %v; %d emergencies", drains, s.Emergencies)
			}
		})
	}
}

// A drain is looked at as often as tables arrive, unless it is said how often.
func TestDrainRateTicks(t *testing.T) {
	for _, c := range []struct {
		side throttle.Side
		tick time.Duration
		want time.Duration
	}{
		{throttle.Side{}, 0, 100 * time.Millisecond},
		{throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}, 0, 20 * time.Millisecond},
		{throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}, time.Second, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &plant{}
			p.says(0)
			r := run(t, p, throttle.Config{Writes: c.side, Tick: c.tick})
			pass(time.Second)
			if got := r.Tick(); got != c.want {
				t.Errorf("a tick of %v where %v was said, want %v", got, c.tick, c.want)
			}
			if polls := r.Snapshot().Feeds[0].Polls; polls < 49 || polls > 51 {
				t.Errorf("%d polls in a second, want 50", polls)
			}
		})
	}
}
