package throttle_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

const tick = 100 * time.Millisecond // as often as the laws decide and a source is polled

// A tank fills by writes and drains at a rate: the plant of a memory or a
// backlog. Its readings may come late, noisy or stuck.
type tank struct {
	drain func(at time.Duration) float64 // cost per second
	late  time.Duration
	noise float64
	stuck func(at time.Duration) bool

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
		if k.stuck != nil && k.stuck(time.Since(began)) {
			return load.Sample{}, errors.New("no answer")
		}
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
				r := run(t, c.tank.plant(), throttle.Config{Emergency: throttle.Emergency{Enter: 1e9}})
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
