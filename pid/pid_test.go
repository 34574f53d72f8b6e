package pid_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pid"
)

const tick = 100 * time.Millisecond

func start(t *testing.T, c pid.Config) *pid.Controller {
	t.Helper()
	if c.Min == 0 && c.Max == 0 {
		c.Min, c.Max = -1000, 1000
	}
	return must.Have(pid.New(c))(t)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9) { // nor is NaN
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestStep(t *testing.T) {
	c := start(t, pid.Config{Kp: 2, Ki: 0.5, Setpoint: 3})
	for n := 1; n <= 50; n++ { // error 1: Kp + Ki n dt
		near(t, "output", c.Update(2, tick), 2+0.5*float64(n)*0.1)
	}
	c = start(t, pid.Config{Kp: 2, Ki: 0.5, Setpoint: 3, Reverse: true})
	near(t, "reversed", c.Update(4, tick), 2+0.5*0.1)
}

// The filter lags behind a ramp by Tau, so the derivative of one of slope 5
// rises to 5 as 1 - exp(-t/Tau), exactly for any step.
func TestRamp(t *testing.T) {
	c := start(t, pid.Config{Kd: 2, Tau: 500 * time.Millisecond})
	c.Update(7, tick)
	if s := c.Snapshot(); s.Filtered != 7 || s.D != 0 {
		t.Errorf("the first sample leaves %+v, want a seeded filter", s)
	}
	filtered, share := 7.0, 1-math.Exp(-0.1/0.5)
	for n := 1; n <= 200; n++ {
		y := 7 + 5*0.1*float64(n)
		step := (y - filtered) * share
		filtered += step
		near(t, "output", c.Update(y, tick), -2*step/0.1)
	}
	near(t, "slope at last", c.Snapshot().D, -2*5)
}

func TestFilterDoesNotDependOnTheTick(t *testing.T) {
	conf := pid.Config{Kd: 1, Tau: time.Second}
	coarse, fine := start(t, conf), start(t, conf)
	coarse.Update(0, tick)
	fine.Update(0, tick)
	coarse.Update(1, time.Second)
	for range 10 {
		fine.Update(1, tick)
	}
	near(t, "filtered", coarse.Snapshot().Filtered, 1-math.Exp(-1))
	near(t, "filtered", fine.Snapshot().Filtered, coarse.Snapshot().Filtered)
}

func TestDerivativeIgnoresTheSetpoint(t *testing.T) {
	conf := pid.Config{Kd: 10}
	c := start(t, conf)
	c.Update(1, tick)
	conf.Setpoint, conf.Min, conf.Max = 100, -1000, 1000
	must.Do(t, c.Retune(conf))
	near(t, "kick", c.Update(1, tick), 0)
}

// At the limit for long, the integral converges to the point where the sum of the terms is Ki
// e times the tracking time over the limit. So the way back is as short after an hour as
// after a minute.
func TestSaturation(t *testing.T) {
	for _, test := range []struct {
		n            int
		kd, tracking float64 // sqrt(Kd/Ki), or Kp/Ki
	}{{600, 0, 1}, {36_000, 0, 1}, {600, 4, 2}} {
		c := start(t, pid.Config{Kp: 1, Ki: 1, Kd: test.kd, Tau: time.Hour, Setpoint: 5, Min: -1, Max: 1})
		for range test.n {
			if out := c.Update(0, tick); out != 1 {
				t.Fatalf("output %v at the limit", out)
			}
		}
		a := 1 - math.Exp(-tick.Seconds()/test.tracking)
		// I = I + Ki e dt + (1 - P - I - Ki e dt) a
		fixed := 1 - 5 - 0.5 + 0.5/a
		near(t, "integral", c.Snapshot().I, fixed)
		if test.kd == 0 {
			near(t, "one step back", c.Update(5.1, tick), -0.1+fixed-0.01)
		}
	}
}

func TestWithoutGainsTheIntegralFollowsAtOnce(t *testing.T) {
	c := start(t, pid.Config{Ki: 1, Setpoint: 1, Min: 0, Max: 1})
	for range 1000 {
		c.Update(0, tick)
	}
	near(t, "integral", c.Snapshot().I, 1)
	near(t, "way back", c.Update(2, tick), 0.9)
}

func TestALimitDoesNotMoveAnIntegralWithoutGain(t *testing.T) {
	c := start(t, pid.Config{Kp: 1, Setpoint: 1, Min: 0, Max: 1})
	c.Update(-5, tick)
	near(t, "way back", c.Update(0.5, tick), 0.5)
}

func TestRetuneWithoutBump(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	conf := pid.Config{Kp: 1, Ki: 0.5, Kd: 0.1, Tau: tick, Setpoint: 1, Min: -100, Max: 100}
	c := start(t, conf)
	for range 100 {
		y := r.Float64()
		before := c.Update(y, tick)
		conf.Kp, conf.Ki, conf.Kd = r.Float64(), r.Float64(), r.Float64()/10
		must.Do(t, c.Retune(conf))
		s := c.Snapshot()
		near(t, "sum of the terms", s.P+s.I+s.D, before)
		near(t, "proportional term", s.P, conf.Kp*(1-y))
	}
	before := c.Snapshot()
	if err := c.Retune(pid.Config{Kp: -1}); !errors.Is(err, pid.ErrConfig) || c.Snapshot() != before ||
		c.Config().Kp != conf.Kp {
		t.Errorf("a bad setting: %v, %+v", err, c.Snapshot())
	}
}

func TestRetuneMovesTheTerms(t *testing.T) {
	conf := pid.Config{Kp: 2, Kd: 3, Setpoint: 1, Min: -100, Max: 100}
	c := start(t, conf)
	c.Update(5, time.Second)
	c.Update(4, time.Second) // a slope of -1
	before := c.Snapshot()
	near(t, "proportional term", before.P, -6)
	near(t, "derivative term", before.D, 3)
	conf.Kp, conf.Kd, conf.Reverse = 1, 1, true
	must.Do(t, c.Retune(conf))
	s := c.Snapshot()
	near(t, "proportional term, reversed", s.P, 3)
	near(t, "derivative term, reversed", s.D, -1)
	near(t, "sum of the terms", s.P+s.I+s.D, before.Output)
}

// A gain that is too large for the last sample must not outlast its settings.
func TestRetuneWithHugeGains(t *testing.T) {
	conf := pid.Config{Kp: 1, Kd: 1, Setpoint: 1, Min: -1, Max: 1}
	c := start(t, conf)
	c.Update(0.5, time.Second)
	before := c.Update(100, time.Second)
	must.Do(t, c.Retune(pid.Config{Kp: math.MaxFloat64, Kd: math.MaxFloat64, Min: -1, Max: 1}))
	if s := c.Snapshot(); s.Output != before || math.IsNaN(s.P+s.I+s.D) {
		t.Errorf("%+v, want an output of %v", s, before)
	}
	must.Do(t, c.Retune(conf))
	if out := c.Update(0.5, time.Second); out == before {
		t.Errorf("it stays at %v", out)
	}
}

func TestStartsWithinItsLimits(t *testing.T) {
	c := start(t, pid.Config{Min: 2, Max: 3})
	if got, want := c.Snapshot(), (pid.Snapshot{I: 2, Output: 2}); got != want {
		t.Errorf("starts with %+v, want %+v", got, want)
	}
}

func TestTrackAndReset(t *testing.T) {
	conf := pid.Config{Kp: 1, Ki: 1, Setpoint: 1, Min: 0, Max: 10}
	c := start(t, conf)
	c.Update(0, tick)
	c.Track(7)
	near(t, "goes on from there", c.Update(0, tick), 7.1)
	c.Track(99)
	near(t, "within the limits", c.Snapshot().Output, 10)
	c.Track(math.NaN())
	near(t, "holds", c.Snapshot().Output, 10)
	c.Reset(3)
	for range 2 {
		if got, want := c.Snapshot(), (pid.Snapshot{I: 3, Output: 3}); got != want {
			t.Errorf("reset to %+v, want %+v", got, want)
		}
		c.Reset(math.NaN())
	}
	conf.Kp = 5
	must.Do(t, c.Retune(conf))
	if got, want := c.Snapshot(), (pid.Snapshot{I: 3, Output: 3}); got != want {
		t.Errorf("retuned after a reset: %+v, want %+v", got, want)
	}
	near(t, "starts again", c.Update(1, tick), 3)
}

func TestBadSamplesHoldTheOutput(t *testing.T) {
	c := start(t, pid.Config{Kp: 1, Ki: 1, Kd: 1, Setpoint: 1})
	c.Update(0.5, tick)
	before := c.Snapshot()
	for _, bad := range []struct {
		y  float64
		dt time.Duration
	}{
		{math.NaN(), tick},
		{math.Inf(1), tick},
		{math.Inf(-1), tick},
		{math.MaxFloat64, tick},
		{0.9, 0},
		{0.9, -tick},
		{0.9, math.MinInt64},
	} {
		if out := c.Update(bad.y, bad.dt); out != before.Output || c.Snapshot() != before {
			t.Errorf("%+v: %v, %+v", bad, out, c.Snapshot())
		}
	}
}

func TestLongGapIsCapped(t *testing.T) {
	c := start(t, pid.Config{Ki: 1, Setpoint: 1, MaxStep: 2 * time.Second})
	near(t, "after an age", c.Update(0, math.MaxInt64), 2)
	c = start(t, pid.Config{Kp: 1, Ki: 1, Setpoint: 5, Min: -1, Max: 1})
	c.Update(0, math.MaxInt64)
	near(t, "integral at the limit", c.Snapshot().I, 5+(1-10)*(1-math.Exp(-1)))
}

func TestAnySamplesStayWithinLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	odd := []float64{0, -1, math.NaN(), math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64}
	for range 200 {
		conf := pid.Config{
			Kp: r.ExpFloat64(), Ki: r.ExpFloat64(), Kd: r.ExpFloat64(), Tau: time.Duration(r.IntN(1e9)),
			Setpoint: r.NormFloat64(), Reverse: r.IntN(2) == 0, Min: -r.ExpFloat64(), Max: r.ExpFloat64(),
		}
		c := start(t, conf)
		for range 200 {
			y := 10 * r.NormFloat64()
			if r.IntN(4) == 0 {
				y = odd[r.IntN(len(odd))]
			}
			out := c.Update(y, time.Duration(r.Int64N(1e10)-1e9))
			if s := c.Snapshot(); !(out >= conf.Min && out <= conf.Max) || s.Output != out ||
				math.IsNaN(s.P+s.I+s.D+s.Filtered) {
				t.Fatalf("%+v: output %v, %+v", conf, out, s)
			}
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, test := range []struct {
		conf pid.Config
		want string
	}{
		{pid.Config{Kp: -1}, "pid: invalid configuration: Kp is -1: want 0 or more"},
		{pid.Config{Ki: math.NaN()}, "pid: invalid configuration: Ki is NaN: want 0 or more"},
		{pid.Config{Kd: math.Inf(1)}, "pid: invalid configuration: Kd is +Inf: want 0 or more"},
		{pid.Config{Tau: -1}, "pid: invalid configuration: Tau is -1ns: want 0 or more"},
		{pid.Config{MaxStep: -1}, "pid: invalid configuration: MaxStep is -1ns: want 0 or more"},
		{pid.Config{Setpoint: math.NaN()}, "pid: invalid configuration: Setpoint is NaN: want a finite number"},
		{pid.Config{Min: math.Inf(-1)}, "pid: invalid configuration: Min is -Inf: want a finite number"},
		{pid.Config{Max: math.Inf(1)}, "pid: invalid configuration: Max is +Inf: want a finite number"},
		{pid.Config{Min: 1, Max: 1}, "pid: invalid configuration: Min is 1: want less than Max, which is 1"},
	} {
		c, err := pid.New(test.conf)
		if c != nil || !errors.Is(err, pid.ErrConfig) || err.Error() != test.want {
			t.Errorf("%+v: %v, %v\nwant %s", test.conf, c, err, test.want)
		}
	}
	c, err := pid.New(pid.Config{})
	if err != nil || c.Update(5, tick) != 0 || c.Config().Max != 1 || c.Config().MaxStep != time.Second {
		t.Errorf("the zero Config: %v, %v", c, err)
	}
}

func TestUpdateDoesNotAllocate(t *testing.T) {
	c := start(t, pid.Config{Kp: 1, Ki: 1, Kd: 1, Tau: tick})
	if n := testing.AllocsPerRun(100, func() { c.Update(1, tick) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
