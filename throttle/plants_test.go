package throttle_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// A lsm is a plant that digests in pieces: a table for each 100 writes, merged four at a
// time at a rate of 5 a second. It stalls at 15.
type lsm struct {
	plant
	limit  float64 // its reported stall
	stuck  atomic.Bool
	tables atomic.Int64 // as last reported
}

func tree() *lsm {
	p := &lsm{}
	written, tables, drained, credit, last := 0.0, 0.0, 0.0, 0.0, time.Now()
	p.poll = func() (load.Sample, error) {
		dt := time.Since(last).Seconds()
		last = time.Now()
		written += p.taken()
		for written >= 100 {
			written -= 100
			tables++
		}
		if tables >= 5 && !p.stuck.Load() {
			credit += 5 * dt
		}
		for ; credit >= 4; credit -= 4 {
			tables -= 4
			drained += 4
		}
		p.tables.Store(int64(tables))
		s := sampled(tables / 15)
		s.Drain = &load.Drain{Drained: drained, Backlog: tables, Target: 9, Limit: p.limit}
		return s, nil
	}
	return p
}

// TestDrainRateBrakesBeforeTheLimit: when the store no longer digests, the mean of its
// backlog shows it too late.
func TestDrainRateBrakesBeforeTheLimit(t *testing.T) {
	for _, limit := range []float64{0, 14} { // of 15: a table more is always about to arrive
		synctest.Test(t, func(t *testing.T) {
			store := tree()
			store.limit = limit
			r := run(t, &store.plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
			r.closedLoop(100, 10*time.Millisecond, 10*time.Second)
			most := int64(0)
			store.stuck.Store(true)
			for range 30 {
				r.closedLoop(100, 10*time.Millisecond, 100*time.Millisecond)
				most = max(most, store.tables.Load())
			}
			if knows, stalled := limit > 0, most >= 15; knows == stalled {
				t.Errorf("with a limit of %v there were %d tables", limit, most)
			}
		})
	}
}

// The digestion while the signals were missing was not paid for with the writes
// admitted in the one tick after, so the drain law comes back with the rate it had.
func TestDrainRateAfterLostSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tree()
		healthy := p.poll
		r := run(t, &p.plant, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}})
		r.closedLoop(15, 10*time.Millisecond, 20*time.Second)
		p.become(func() (load.Sample, error) {
			_, _ = healthy() // it continues
			return load.Sample{}, errors.New("no answer")
		})
		r.closedLoop(15, 10*time.Millisecond, 30*time.Second)
		p.become(healthy)
		paceless := 0
		for range 40 {
			r.closedLoop(15, 10*time.Millisecond, 500*time.Millisecond)
			if rate := r.Snapshot().Writes.Pace.Rate; rate == 0 || rate > 5000 {
				paceless++
			}
		}
		if st := r.Snapshot().Writes; paceless > 0 || st.Level.Load >= 1 || st.Pace.Rate < 350 || !r.had(throttle.Restored) {
			t.Errorf("in %d of 40 samples the pace is none or 10 times what is digested; at the end %v at a load of %v", paceless, st.Pace.Rate, st.Level.Load)
		}
	})
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

// A law decides on a drain as often as tables arrive, unless the configuration sets an interval.
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
			r := loaded(t, 0, throttle.Config{Writes: c.side, Tick: c.tick})
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

const tick = 100 * time.Millisecond // as often as the laws decide and a source is polled

// A tank fills by writes and drains at a rate: the plant of a memory or a
// backlog. Its readings may come late or noisy.
type tank struct {
	drain func(at time.Duration) float64 // cost per second
	late  time.Duration
	noise float64

	level float64
	past  []float64 // its past levels, a poll apart
}

const tankHolds = 500.0

func (k *tank) plant() *plant {
	p := &plant{}
	began, last := time.Now(), time.Now()
	source := rand.New(rand.NewPCG(1, 2))
	p.poll = func() (load.Sample, error) {
		dt := time.Since(last).Seconds()
		last = time.Now()
		k.level = max(0, k.level+(p.taken()-k.drain(time.Since(began))*dt)/tankHolds)
		k.past = append(k.past, k.level)
		seen := k.past[max(0, len(k.past)-1-int(k.late/tick))]
		return sampled(max(0, seen+k.noise*source.NormFloat64())), nil
	}
	return p
}

func steady(rate float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return rate }
}

// Each plant is written to by 10 writers who could write 1000/s. The PID holds the
// load, and writes the drained amount.
func TestPIDOnPlants(t *testing.T) {
	for name, c := range map[string]struct {
		tank   tank
		drains float64 // in the last 20 s
		within float64 // of the setpoint, at the end
	}{
		"steady": {tank{drain: steady(200)}, 4000, 0.05},
		"step": {tank{drain: func(at time.Duration) float64 {
			if at < 40*time.Second {
				return 400
			}
			return 100
		}}, 2000, 0.1},
		"ramp":       {tank{drain: func(at time.Duration) float64 { return 100 + 2*at.Seconds() }}, 20 * (100 + 2*70), 0.1},
		"dead time":  {tank{drain: steady(200), late: 500 * time.Millisecond}, 4000, 0.2},
		"noise":      {tank{drain: steady(200), noise: 0.05}, 4000, 0.25},
		"saturation": {tank{drain: steady(0.5)}, 10, math.Inf(1)}, // slower than the slowest pace
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, c.tank.plant(), throttle.Config{Emergency: 1e9})
				r.closedLoop(10, 10*time.Millisecond, time.Minute)
				writes := float64(r.closedLoop(10, 10*time.Millisecond, 20*time.Second))
				s := r.Snapshot().Writes
				if math.Abs(s.Level.Load-0.85) > c.within {
					t.Errorf("a load of %v, want 0.85 within %v", s.Level.Load, c.within)
				}
				if math.Abs(writes-c.drains) > 0.15*c.drains+20 {
					t.Errorf("%v written in 20 s, of which %v drain", writes, c.drains)
				}
				if math.Abs(s.PID.I) > 2 || math.IsNaN(s.PID.I) {
					t.Errorf("the integral ran away: %+v", s.PID)
				}
			})
		})
	}
}
