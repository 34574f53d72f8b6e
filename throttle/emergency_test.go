package throttle_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/throttle"
)

// The naive emergency blocked the operations that alone could end it. Ours ends by the
// monitor, or by itself when that goes on to say that all is lost.
func TestEmergencyEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.5)
		r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.LoadPID{Setpoint: 100}}}})
		r.closedLoop(10, 10*time.Millisecond, 5*time.Second)
		p.says(1.2)
		pass(time.Second)
		s := r.Snapshot().Writes
		if !s.Emergency || s.Pace.Rate < 100 || s.Pace.Rate > 300 {
			t.Errorf("%+v at a flow of 1000/s, want a quarter", s.Pace)
		}
		p.says(0.95) // between Leave and Enter
		pass(time.Second)
		if !r.Snapshot().Writes.Emergency {
			t.Error("it ended within the hysteresis")
		}
		p.says(0.5)
		pass(time.Second)
		if s := r.Snapshot().Writes; s.Emergency || s.Pace.Rate != 0 {
			t.Errorf("%+v: want it over", s.Pace)
		}
		p.says(2) // for ever, and without any operation
		on := 0
		for range 100 {
			pass(time.Second)
			if r.Snapshot().Writes.Emergency {
				on++
			}
		}
		if s := r.Snapshot().Writes; on < 40 || on > 60 || s.Emergencies < 5 {
			t.Errorf("on for %d of 100 s, %d times: want it 10 s on, 10 s off", on, s.Emergencies)
		}
		began, ended := 0, 0
		for _, w := range r.kinds() {
			switch w {
			case throttle.EmergencyBegan:
				began++
			case throttle.EmergencyEnded:
				ended++
			}
		}
		if began < 5 || began-ended > 2 {
			t.Errorf("%d events that it began, %d that it ended", began, ended)
		}
	})
}

// An emergency that was on when Run returned bounds no later answer.
func TestEmergencyEndsWithRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(1.2)
		r := run(t, p, throttle.Config{Writes: throttle.Side{
			Laws:        []throttle.LoadLaw{throttle.LoadPID{Setpoint: 100}},
			MaxInFlight: 1, Queue: weir.Queue{Size: 1, Timeout: time.Minute},
		}})
		pass(time.Second)
		if !r.Snapshot().Writes.Emergency {
			t.Fatal("no emergency")
		}
		r.stop()
		pass(time.Minute)
		permit := must.Have(r.Acquire(t.Context(), throttle.Write, 1))(t)
		go func() { _, _ = r.Acquire(t.Context(), throttle.Write, 1) }()
		pass(time.Second)
		var refused *weir.RefusedError
		if _, err := r.Acquire(t.Context(), throttle.Write, 1); !errors.As(err, &refused) || refused.RetryAfter < 100*time.Millisecond {
			t.Errorf("%+v, after %v: want an answer for a full queue", err, refused.RetryAfter)
		}
		permit.Done(nil)
		pass(time.Second)
	})
}
