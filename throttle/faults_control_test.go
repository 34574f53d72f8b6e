package throttle_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/pid"
	"github.com/weir-go/weir/throttle"
)

// The faults of control of a naive throttle, which docs/results/storms.md lists.

const tick = 100 * time.Millisecond

func loop(t *testing.T, c pid.Config) *pid.Controller {
	t.Helper()
	c.Reverse = true
	p, err := pid.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ours is the controller with the gains of the naive one.
func ours(t *testing.T) *pid.Controller {
	return loop(t, pid.Config{Kp: 0.5, Ki: 0.1, Kd: 0.05, Tau: 450 * time.Millisecond, Setpoint: 0.85})
}

// broken fails the test if the faulty formula is not at fault.
func broken(t *testing.T, faulty bool, format string, args ...any) {
	t.Helper()
	if !faulty {
		t.Errorf("the faulty formula holds: "+format, args...)
	}
}

func TestFaultWeightedSumMasksAStall(t *testing.T) {
	pv := naiveVariable(0.3, 1.5)
	broken(t, pv < 0.85, "pv %v", pv)
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.become(func() (load.Sample, error) {
			return load.Sample{Readings: []load.Reading{{Name: "memory", Value: 0.3, Limit: 1}, {Name: "tables", Value: 1.5, Limit: 1}}}, nil
		})
		r := run(t, p, throttle.Config{})
		pass(time.Second)
		if s := r.Snapshot().Writes; s.Load != 1.5 || s.Pace.Rate == 0 {
			t.Errorf("load %v, pace %+v", s.Load, s.Pace)
		}
	})
}

func TestFaultTotalGrowsWithConnections(t *testing.T) {
	total := func(connections int) (n int) { // in 10 s, at 1 ms each and a delay of 100 ms
		for range connections {
			for now, i := time.Duration(0), 1; now < 10*time.Second; i++ {
				now += time.Millisecond + naiveBatch(i, 10, tick)
				n++
			}
		}
		return n
	}
	broken(t, total(50) > 40*total(1), "%d and %d", total(50), total(1))
	var writes []int64
	for _, writers := range []int{5, 250} {
		synctest.Test(t, func(t *testing.T) {
			p := &plant{}
			p.says(5)
			r := run(t, p, throttle.Config{Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.PID{MaxDelay: 10 * time.Millisecond}}}})
			pass(30 * time.Second)
			writes = append(writes, r.closedLoop(writers, time.Millisecond, 10*time.Second))
		})
	}
	if writes[0] < 990 || writes[1] > writes[0]*11/10 {
		t.Errorf("%v writes in 10 s at 100/s, with 5 and 250 writers", writes)
	}
}

func TestFaultDecidesByTheClockBeforeTheWork(t *testing.T) {
	delayed := time.Duration(0)
	for i := 1; i < 10; i++ { // nine operations of one connection, whatever they cost
		delayed += naiveBatch(i, 10, time.Second)
	}
	broken(t, delayed == 0, "delayed by %v", delayed)
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(5)
		r := run(t, p, throttle.Config{})
		pass(30 * time.Second) // no operation has come by, and the pace is there
		if got := r.Snapshot().Writes.Pace.Rate; got < 0.99 || got > 1.01 {
			t.Errorf("pace %v", got)
		}
		op, err := r.Start(t.Context(), throttle.Write, 1)
		op.Done(err)
		began := time.Now()
		op, err = r.Start(t.Context(), throttle.Write, 1)
		op.Done(err)
		if got := time.Since(began); err != nil || got < 890*time.Millisecond {
			t.Errorf("the second starts after %v: %v", got, err)
		}
	})
}

func TestFaultFilterDependsOnTheTick(t *testing.T) {
	naive := func(dt float64) float64 { // the filtered error 1 s after a step
		p := newNaivePID(0)
		p.update(0, dt)
		for range int(math.Round(1 / dt)) {
			p.update(1, dt)
		}
		return p.filtered
	}
	broken(t, math.Abs(naive(0.5)-naive(0.1)) > 0.4, "%v, %v", naive(0.5), naive(0.1))
	filter := func(dt time.Duration) float64 {
		c := ours(t)
		c.Update(0, dt)
		for range time.Second / dt {
			c.Update(1, dt)
		}
		return c.Snapshot().Filtered
	}
	if a, b := filter(500*time.Millisecond), filter(tick); math.Abs(a-b) > 1e-9 {
		t.Errorf("%v, %v", a, b)
	}
}

// One table more of 10 is 0.03 of the naive variable. Its controller runs each
// millisecond on a value that steps each 100 ms.
func TestFaultDerivativeKick(t *testing.T) {
	p := newNaivePID(0.85)
	for range 100 {
		p.update(0.85, 0.001)
	}
	kick := p.update(0.85+0.3*0.1, 0.001)
	broken(t, kick > 0.3, "%v s", kick)

	c := ours(t)
	c.Update(0.85, tick)
	before := c.Snapshot().Output
	if got := c.Update(0.85+0.1, tick) - before; got > 0.1 {
		t.Errorf("one table of 10 more moves the effort by %v", got)
	}
}

func TestFaultSetpointKick(t *testing.T) {
	p := newNaivePID(0.85)
	for range 100 {
		p.update(0.8, 0.001)
	}
	p.Kp, p.Ki, p.setpoint = 0, 0, 0.5
	kick := p.update(0.8, 0.001)
	broken(t, kick == p.outMax, "%v", kick)

	conf := pid.Config{Kd: 0.05, Setpoint: 0.85, Reverse: true, Min: -1, Max: 1}
	c := loop(t, conf)
	c.Update(0.8, tick)
	conf.Setpoint = 0.5
	if err := c.Retune(conf); err != nil {
		t.Fatal(err)
	}
	if got := c.Update(0.8, tick); got != 0 {
		t.Errorf("%v", got)
	}
}

// A steady effort of 0.5 is needed; the naive integral can give 0.2. And after an idle
// hour it starts from the other end.
func TestFaultClampedIntegral(t *testing.T) {
	p := newNaivePID(0.85)
	for range 100_000 {
		p.update(0.86, 0.1)
	}
	most := p.Ki * p.integral
	for range 100_000 {
		p.update(0.1, 0.1)
	}
	broken(t, most <= 0.2+1e-9 && p.integral == -0.5, "I up to %v, idle %v", most, p.integral)

	c := ours(t)
	for range 10_000 {
		c.Update(0.86, tick)
	}
	if got := c.Snapshot().I; got < 0.9 {
		t.Errorf("the integral stops at %v of the effort", got)
	}
	for range 36_000 {
		c.Update(0.1, tick)
	}
	if s := c.Snapshot(); s.P+s.I < -0.5 || s.P+s.I > 0 {
		t.Errorf("an idle hour leaves %+v, want the sum of the terms to stay near the limit", s)
	}
}

func TestFaultRetuningBumps(t *testing.T) {
	p := newNaivePID(0.85)
	p.Kp, p.Kd = 0, 0
	for range 100 {
		p.update(0.95, 0.1)
	}
	before := p.update(0.85, 0.1)
	p.Ki *= 10
	after := p.update(0.85, 0.1)
	broken(t, after > 5*before, "%v to %v", before, after)

	conf := pid.Config{Ki: 0.1, Setpoint: 0.85, Reverse: true}
	c := loop(t, conf)
	for range 100 {
		c.Update(0.95, tick)
	}
	held := c.Update(0.85, tick)
	conf.Ki = 1
	if err := c.Retune(conf); err != nil {
		t.Fatal(err)
	}
	if got := c.Update(0.85, tick); math.Abs(got-held) > 1e-9 {
		t.Errorf("%v to %v", held, got)
	}
}

func TestFaultFilterIsNotSeeded(t *testing.T) {
	p := newNaivePID(0.85)
	p.Kp, p.Ki = 0, 0
	p.update(1.2, 0.01)
	kick := p.update(1.2, 0.01) // nothing changed
	broken(t, kick > 0.3, "%v", kick)

	c := loop(t, pid.Config{Kd: 0.05, Tau: 450 * time.Millisecond, Setpoint: 0.85})
	c.Update(1.2, tick)
	if got := c.Update(1.2, tick); got != 0 {
		t.Errorf("%v", got)
	}
}

func TestFaultLongIdle(t *testing.T) {
	p := newNaivePID(0.85)
	p.update(0.9, 0.1)
	p.update(0.9, 3600)
	broken(t, p.integral == p.integralMax, "integral %v", p.integral)

	c := ours(t)
	c.Update(0.9, tick)
	c.Update(0.9, time.Hour)
	if got := c.Snapshot().I; got > 0.1*0.05*1.2 {
		t.Errorf("one update after an hour adds %v", got)
	}
}

func TestFaultNaN(t *testing.T) {
	p := newNaivePID(0.85)
	p.update(0.9, 0.1)
	p.update(math.NaN(), 0.1)
	got := p.update(0.5, 0.1)
	broken(t, math.IsNaN(got) || math.IsNaN(p.filtered), "%v", got)

	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.9)
		r := run(t, p, throttle.Config{})
		pass(time.Second)
		p.says(math.NaN())
		pass(500 * time.Millisecond)
		if s := r.Snapshot().Writes; s.Load != 0.9 || s.Degraded {
			t.Errorf("at first: load %v, want the last one held", s.Load)
		}
		pass(5 * time.Second)
		if s := r.Snapshot().Writes; !s.Degraded || !(s.Pace.Rate >= 0) || !r.had(throttle.Degraded) {
			t.Errorf("then: %+v, want it degraded", s)
		}
		p.says(0.9)
		pass(2 * time.Second)
		if s := r.Snapshot().Writes; s.Degraded || s.Load != 0.9 || !r.had(throttle.Restored) || math.IsNaN(s.PID.I) {
			t.Errorf("afterwards: %+v", s)
		}
	})
}

// The advice says both that a lower alpha filters more and that 0.3 filters more than
// 0.2. A time constant has one meaning: a longer one filters more.
func TestFaultAdviceOnAlpha(t *testing.T) {
	step := func(alpha float64) float64 {
		p := newNaivePID(0)
		p.alpha = alpha
		p.update(0, 0.1)
		p.update(1, 0.1)
		return p.filtered
	}
	broken(t, step(0.3) > step(0.2), "0.3 filters more than 0.2, as the comment says")
	response := func(tau time.Duration) float64 {
		c := loop(t, pid.Config{Kd: 1, Tau: tau, Setpoint: 0})
		c.Update(0, tick)
		c.Update(1, tick)
		return c.Snapshot().Filtered
	}
	if response(time.Second) >= response(tick) {
		t.Error("a longer time constant filters less")
	}
}

func TestFaultLatencyCountsAndIsRelative(t *testing.T) {
	pv := naiveVariable(0.2, 0.2) // whatever the latency, which is recorded
	broken(t, pv < 0.85, "pv %v", pv)
	absolute := func(latency time.Duration) bool { return latency > 50*time.Millisecond }
	broken(t, absolute(60*time.Millisecond) && !absolute(40*time.Millisecond),
		"a store that always takes 60 ms is left alone, one that went from 1 to 40 ms is not")

	for _, base := range []time.Duration{time.Millisecond, 60 * time.Millisecond} {
		var s load.Symptoms
		s.Update(load.Operations{Latency: base}, tick)
		if got := s.Update(load.Operations{Latency: base}, tick).Load(); got > 0.3 {
			t.Errorf("%v as ever: a load of %v", base, got)
		}
		if got := s.Update(load.Operations{Latency: 40 * base}, tick).Load(); got < 1 {
			t.Errorf("40 times %v: a load of %v", base, got)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p := &plant{}
		p.says(0.2)
		r := run(t, p, throttle.Config{Writes: throttle.Side{LatencyTarget: 20 * time.Millisecond}})
		r.closedLoop(10, 100*time.Millisecond, 10*time.Second)
		if s := r.Snapshot().Writes; s.Pace == (throttle.Pace{}) {
			t.Errorf("100 ms against a target of 20: %+v", s.Pace)
		}
	})
}
