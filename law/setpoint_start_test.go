package law_test

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// Batches that come once in minutes are older than the look-back when the next one arrives. The
// limiter then looks back further, and takes the usual limit.
func TestSetpointMeasuresRareWork(t *testing.T) {
	c := start(t, law.Setpoint{})
	first := c.Next(law.Window{Limit: 4, Min: 1, Max: 1000})
	if first.Limit != 4 {
		t.Fatalf("a start with %v, want 4", first.Limit)
	}
	limit, age := 4, first.Next.MaxAge
	for range 3 {
		d := c.Next(law.Window{Limit: limit, Min: 1, Max: 1000, MinSamples: 10})
		if limit = int(d.Limit); limit != 20 || d.Next.MaxAge != 2*age {
			t.Errorf("a limit of %v and a look-back of %v after %v, want 20 and twice as long", limit, d.Next.MaxAge, age)
		}
		age = d.Next.MaxAge
	}
}

// A burst reaches a limiter that looks back for hours. The next window must not last half as long
// as the idle time before the burst: meanwhile a limit of 20 would refuse most of the load.
func TestSetpointAnswersBurstAfterIdleHours(t *testing.T) {
	c := start(t, law.Setpoint{})
	c.Next(law.Window{Limit: 4, Min: 1, Max: 1000})
	for range 12 {
		c.Next(law.Window{Limit: 20, Min: 1, Max: 1000, MinSamples: 10})
	}
	d := c.Next(law.Window{
		Limit: 20, Min: 1, Max: 1000, MinSamples: 10, Elapsed: 4 * time.Hour, Samples: 10, Weight: 10, Refused: 80,
		Mean: 100 * ms, Sojourn: 100 * ms, InFlight: 0.0002, Crowd: 20, Peak: 20, Last: 20, Age: 100 * ms,
	})
	if d.Next.MinSamples <= 10 || d.Next.Interval > 5*time.Second || d.Next.MaxAge > 5*time.Minute {
		t.Errorf("%+v, want a window for more of the burst within seconds", d.Next)
	}
}

// Long work may hold the slots in the first window that reaches the limit. No other window
// gives a probe a point to begin at, so the limit rises.
func TestSetpointStartsBesideLongWork(t *testing.T) {
	d := start(t, law.Setpoint{}).Next(law.Window{
		Limit: 30, Min: 1, Max: 200, Elapsed: time.Second, Samples: 30, Weight: 30, Refused: 10,
		Mean: 10 * ms, Sojourn: 300 * ms, Deviation: 5 * ms, InFlight: 28, Peak: 30, First: 30, Last: 30,
	})
	if d.Limit != 33 || d.Next.Interval <= 0 {
		t.Errorf("a limit of %v and then %+v, want 33", d.Limit, d.Next)
	}
}

// Calls of ten seconds that began together end together. Little's law over the first part of such
// a wave is too high. The limit climbs on, and the next window waits for a whole wave.
func TestSetpointClimbsOverWaves(t *testing.T) {
	bounds := law.Bounds{Min: 1, Max: 1000, Initial: 80}
	resumed := law.Resume(law.Setpoint{}, law.Knowledge{Limit: 80, NoLoad: 10 * time.Second})
	c := must.Have(resumed.Controller(bounds))(t)
	hung := law.Window{
		Limit: 80, Min: 1, Max: 1000, Elapsed: 20 * time.Second, Timeouts: 80, Refused: 100,
		InFlight: 80, Peak: 80, First: 80, Last: 80, Age: 20 * time.Second,
	}
	limit := int(c.Next(hung).Limit)
	if limit != 40 {
		t.Fatalf("a limit of %d after work that hangs, want 40", limit)
	}
	wave := law.Window{
		Limit: limit, Min: 1, Max: 1000, Elapsed: 20 * time.Second, Carried: 25, Weight: 25, Refused: 100,
		Sojourn: 10 * time.Second, InFlight: 40, Peak: 40, First: 40, Last: 40,
	}
	d := c.Next(wave)
	if d.Limit <= 40 || d.Next.MinSamples != 40 || !d.Next.Carried || d.Next.Settle != 0 {
		t.Errorf("a limit of %v and then %+v, want more than 40, and a window of 40 that settles for no time", d.Limit, d.Next)
	}
	wave.Carried = 5 // of weight 5
	if d := c.Next(wave); d.Next.MinSamples != 8 {
		t.Errorf("a window of %d calls of weight 5 under a limit of 40, want 8", d.Next.MinSamples)
	}
}
