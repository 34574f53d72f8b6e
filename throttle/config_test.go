package throttle_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

func TestBadSettings(t *testing.T) {
	nan := math.NaN()
	pid := func(p throttle.LoadPID) throttle.Config {
		return throttle.Config{Reads: throttle.Side{Laws: []throttle.LoadLaw{p}}}
	}
	laws := func(l ...throttle.LoadLaw) throttle.Config {
		return throttle.Config{Writes: throttle.Side{Laws: l}}
	}
	for _, c := range []struct {
		conf throttle.Config
		want string
	}{
		{throttle.Config{Tick: -1}, "Tick"},
		{throttle.Config{Emergency: nan}, "Emergency"},
		{throttle.Config{Writes: throttle.Side{LatencyTarget: -1}}, "Writes.LatencyTarget"},
		{throttle.Config{Writes: throttle.Side{MaxInFlight: -1}}, "Writes.MaxInFlight is -1: want 0"},
		{throttle.Config{Reads: throttle.Side{Queue: weir.Queue{Size: -1}}}, "Reads"},
		{pid(throttle.LoadPID{Setpoint: nan}), "Setpoint"},
		{pid(throttle.LoadPID{Setpoint: -1}), "Setpoint"},
		{pid(throttle.LoadPID{Kp: -1}), ": Reads.Laws[0].Kp is -1: want 0 (the default) or more"},
		{pid(throttle.LoadPID{Ki: nan}), "Ki"},
		{pid(throttle.LoadPID{MaxDelay: -1}), "MaxDelay"},
		{pid(throttle.LoadPID{Filter: -1}), "Laws[0].Filter is -1ns: want 0"},
		{laws(nil), "Laws[0] is <nil>: want a LoadPID"},
		{laws(&throttle.Concurrency{}), "Laws[0] is *throttle.Concurrency: want a LoadPID"}, // it would bound nothing
		{laws(throttle.DrainRate{}), "Monitor with a source that reports a drain"},          // it would pace nothing, and not say so
		{
			throttle.Config{Monitor: monitor(t, &load.Memory{}), Writes: throttle.Side{Laws: []throttle.LoadLaw{throttle.DrainRate{}}}},
			"Monitor with a source that reports a drain",
		},
		{
			throttle.Config{Monitor: monitor(t, &plant{}), Writes: laws(throttle.DrainRate{MaxDelay: -1}).Writes},
			": Writes.Laws[0].MaxDelay is -1ns: want 0 (the default) or more",
		},
	} {
		if _, err := throttle.New(c.conf); !errors.Is(err, throttle.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want one that names %s", c.conf, err, c.want)
		}
	}
}

func TestEventIsOneLine(t *testing.T) {
	e := throttle.Event{Throttle: "a\nb", Kind: throttle.NotRunning}
	if got, want := e.String(), `"a\nb: reads: not running: call Run"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// No call panics or loses a slot for any argument.
func TestBadInput(t *testing.T) {
	th := throttled(t, throttle.Config{Name: "a\nb", Reads: throttle.Side{MaxInFlight: 4}})
	off := throttled(t, throttle.Config{Off: true})
	var none context.Context
	start := func(op throttle.Op, cost int) func() error {
		return func() error {
			permit, err := th.Acquire(none, op, cost)
			permit.Release()
			return err
		}
	}
	work := func(context.Context) error { return nil }
	for name, c := range map[string]struct {
		call func() error
		want error
	}{
		"no context":           {start(throttle.Read, 1), nil},
		"cost 0":               {start(throttle.Read, 0), throttle.ErrConfig},
		"cost least":           {start(throttle.Read, math.MinInt), throttle.ErrConfig},
		"cost above all":       {start(throttle.Read, 5), weir.ErrTooHeavy},
		"cost most":            {start(throttle.Write, math.MaxInt), throttle.ErrConfig},
		"an unknown operation": {start(255, 1), throttle.ErrConfig},
		"Do, no context":       {func() error { return th.Do(none, throttle.Write, 1, work) }, nil},
		"Do, a bad operation":  {func() error { return th.Do(none, 9, 1, work) }, throttle.ErrConfig},
		"Do, a bad cost":       {func() error { return th.Do(none, throttle.Read, -1, work) }, throttle.ErrConfig},
		"a bad cost, off":      {func() error { _, err := off.Acquire(none, throttle.Write, -1); return err }, throttle.ErrConfig},
		"a huge cost, off":     {func() error { _, err := off.Acquire(none, throttle.Write, math.MaxInt); return err }, throttle.ErrConfig},
		"a bad operation, off": {func() error { _, err := off.Acquire(none, 7, 1); return err }, throttle.ErrConfig},
		"unknown names":        {func() error { _ = throttle.Op(99).String() + throttle.Kind(99).String(); return nil }, nil},
		"an empty event":       {func() error { _ = throttle.Event{}.String(); return nil }, nil},
		"a hostile prefix":     {func() error { _, err := throttle.FromEnv("\x00=%"); return err }, nil},
		"no tick for years":    {func() error { _, err := throttle.New(throttle.Config{Tick: math.MaxInt64}); return err }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.call(); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			} else if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than one line", err)
			}
			for _, s := range []throttle.SideSnapshot{th.Snapshot().Reads, th.Snapshot().Writes} {
				if s.Limiter.InFlight != 0 {
					t.Errorf("%d in flight", s.Limiter.InFlight)
				}
			}
		})
	}
	func() {
		defer func() { _ = recover() }()
		_ = th.Do(t.Context(), throttle.Read, 4, nil)
	}()
	if n := th.Snapshot().Reads.Limiter.InFlight; n != 0 {
		t.Errorf("work that there is not left %d in flight", n)
	}
	ended, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if _, err := th.Acquire(ended, throttle.Read, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
