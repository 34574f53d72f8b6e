package law_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-go/weir/law"
)

// A curve is a server as throughput over work in flight, and the load on it.
type curve struct {
	x      func(n float64) float64
	demand float64
}

// window is the window that a limiter would measure under a limit.
func (c curve) window(r *rand.Rand, limit int) law.Window {
	n, refused := float64(limit), 0.0
	if x := c.x(n); x < c.demand {
		refused = c.demand - x
	} else {
		for n > 1 && c.x(n-1) >= c.demand {
			n--
		}
	}
	x := c.x(n)
	span := max(n/x, 60/x)
	samples := int(x * span * (1 + 0.1*r.NormFloat64()))
	mean := time.Duration(n / x * float64(time.Second))
	return law.Window{
		Limit: limit, Min: 1, Max: 1000, Elapsed: time.Duration(span * float64(time.Second)), Samples: max(2, samples),
		Refused: int(refused * span), Mean: mean, Deviation: mean / 2, InFlight: n, Peak: int(n + 1),
	}
}

// settled runs the law for the given number of windows and returns the mean of the latter
// half of limits.
func settled(t *testing.T, l law.Law, c curve, windows int, limit int) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	controller, sum := start(t, l), 0.0
	for i := range windows {
		limit = int(controller.Next(c.window(r, limit)).Limit)
		if i >= windows/2 {
			sum += float64(limit)
		}
	}
	return sum / float64(windows-windows/2)
}

// Work in flight rises to the limit in an overload. That says nothing of the room that bursts need.
func TestSetpointForgetsThePeakOfAnOverload(t *testing.T) {
	c, limit := start(t, law.Setpoint{}), 100
	show := func(waited, inFlight, peak int, latency time.Duration) {
		d := c.Next(law.Window{
			Limit: limit, Min: 1, Max: 1000, Elapsed: time.Second, Samples: 100, Waited: waited,
			Mean: latency, Sojourn: latency, Deviation: latency / 10,
			InFlight: float64(inFlight), Crowd: float64(peak), Peak: peak, First: peak, Last: peak,
		})
		limit = int(d.Limit)
	}
	show(100, 10, 10, 100*ms)
	for range 5 {
		show(100, limit, limit, time.Second)
	}
	for range 5 {
		show(0, 10, 20, 100*ms)
	}
	if limit > 35 {
		t.Errorf("a limit of %d in bursts of 20, want half as much again", limit)
	}
}

func TestSetpointFindsTheKnee(t *testing.T) {
	pool := func(n float64) float64 { return 20 * min(n, 50) }
	usl := func(n float64) float64 { return 64 * n / (1 + 0.02*(n-1) + 0.0005*n*(n-1)) } // peak at 44
	for _, test := range []struct {
		name     string
		curve    curve
		law      law.Setpoint
		from     int
		low, top float64
	}{
		{"a pool of 50", curve{pool, 1500}, law.Setpoint{}, 20, 45, 85},
		{"from far below", curve{pool, 1500}, law.Setpoint{}, 2, 45, 95},
		{"from inside an overload", curve{pool, 1500}, law.Setpoint{}, 500, 45, 95},
		{"past the peak", curve{usl, 3000}, law.Setpoint{}, 20, 20, 55},
		{"from far past the peak", curve{usl, 3000}, law.Setpoint{}, 300, 20, 55},
		{"a budget of 60 ms", curve{pool, 1500}, law.Setpoint{Budget: 60 * ms}, 20, 35, 62},
	} {
		if got := settled(t, test.law, test.curve, 400, test.from); got < test.low || got > test.top {
			t.Errorf("%s: limit %.1f, want %.0f to %.0f", test.name, got, test.low, test.top)
		}
	}
}

func TestSetpointLeavesAnUnusedLimit(t *testing.T) {
	c := curve{func(n float64) float64 { return 20 * min(n, 50) }, 200}
	if got := settled(t, law.Setpoint{}, c, 100, 20); got != 20 {
		t.Errorf("limit %v, want 20", got)
	}
}

func TestSetpointCutsWhatOnlyHangs(t *testing.T) {
	c := start(t, law.Setpoint{})
	w := law.Window{Limit: 20, Min: 1, Max: 100, Elapsed: time.Second, Timeouts: 30, InFlight: 20, Peak: 20, Refused: 10}
	if d := c.Next(w); d.Limit != 10 || d.Reason.Signal != law.Errors {
		t.Errorf("%v to %v", d.Reason, d.Limit)
	}
	w.Limit = 10
	if d := c.Next(w); d.Limit != 5 {
		t.Errorf("%v to %v", d.Reason, d.Limit)
	}
	limit := 5
	for range 4 { // windows in which the server is quick again
		limit = int(c.Next(law.Window{
			Limit: limit, Min: 1, Max: 100, Elapsed: 50 * ms, Samples: limit, Refused: 10,
			InFlight: float64(limit), Crowd: float64(limit), Peak: limit, Mean: 50 * ms, Sojourn: 50 * ms,
		}).Limit)
	}
	if limit < 40 {
		t.Errorf("a limit of %d after the outage, want it to double from 5 in each window", limit)
	}
}

// Limiters of one server can stop it together though none of them reaches its limit. Each then
// sees work that only hangs: it times out, or its callers leave.
func TestSetpointCutsHangingWorkBelowTheLimit(t *testing.T) {
	for name, lost := range map[string]law.Window{
		"timeouts":       {Timeouts: 30},
		"callers leave":  {Abandoned: 30},
		"one is in time": {Timeouts: 20, Abandoned: 10, Samples: 1, Mean: 900 * ms},
	} {
		for _, reached := range []int{0, 10} { // refusals before, with which the law measures on
			c := start(t, law.Setpoint{})
			c.Next(law.Window{
				Limit: 20, Min: 1, Max: 100, Elapsed: time.Second, Samples: 100, Refused: reached,
				InFlight: 5, Crowd: 5, Peak: 8, Mean: 50 * ms, Sojourn: 50 * ms,
			})
			w := lost
			w.Limit, w.Min, w.Max, w.Elapsed, w.InFlight, w.Peak = 20, 1, 100, 3*time.Second, 10, 12
			if d := c.Next(w); d.Limit != 6 {
				t.Errorf("%s: %v to %v, want 6: half of the peak", name, d.Reason, d.Limit)
			}
			w.InFlight = 0.1
			if d := c.Next(w); d.Limit < 20 {
				t.Errorf("%s at once: %v to %v, want the limit kept", name, d.Reason, d.Limit)
			}
		}
	}
}

// After a collapse the limit doubles from where it is, and does not jump to where it was.
func TestSetpointClimbsAfterACollapse(t *testing.T) {
	c, limit := start(t, law.Setpoint{}), 20
	show := func(w law.Window) {
		w.Limit, w.Min, w.Max, w.InFlight, w.Crowd, w.Peak = limit, 1, 100, float64(limit), float64(limit), limit
		limit = int(c.Next(w).Limit)
	}
	quick := law.Window{Elapsed: 100 * ms, Samples: 40, Refused: 10, Mean: 50 * ms, Sojourn: 50 * ms}
	show(quick)
	show(law.Window{Elapsed: time.Second, Timeouts: 30, Refused: 10})
	for range 2 {
		quick.Samples = 2 * limit
		from := limit
		if show(quick); limit < 2*from || limit > 2*from+2 {
			t.Errorf("from %d to %d, want it doubled", from, limit)
		}
	}
}

// Streams end when their clients leave. If nothing else ends, the law knows no usual latency.
func TestSetpointLeavesStreams(t *testing.T) {
	w := law.Window{
		Limit: 20, Min: 1, Max: 100, Elapsed: time.Minute, Abandoned: 30, Refused: 10, InFlight: 20, Peak: 20, Age: time.Hour,
	}
	if d := start(t, law.Setpoint{}).Next(w); d.Limit != 20 {
		t.Errorf("%v to %v, want the limit kept", d.Reason, d.Limit)
	}
}

// After a window in which two callers left, the next one lasts until ten have, however slow.
func TestSetpointWaitsToSeeWorkHang(t *testing.T) {
	w := law.Window{
		Limit: 4, Min: 1, Max: 100, Elapsed: 2 * time.Second, Abandoned: 2, Refused: 10, InFlight: 4, Peak: 4, Age: 1900 * ms,
	}
	if d := start(t, law.Setpoint{}).Next(w); d.Next.MinSamples != 10 || d.Next.MaxAge < 10*time.Second {
		t.Errorf("plan %+v, want ten samples within 10 s or more", d.Next)
	}
}

func TestSetpointLeavesWhatFailsAtOnce(t *testing.T) {
	w := law.Window{Limit: 20, Min: 1, Max: 100, Elapsed: time.Second, Failures: 30, InFlight: 0.1}
	if d := start(t, law.Setpoint{}).Next(w); d.Limit != 20 || d.Reason.Signal != law.Errors {
		t.Errorf("%v to %v", d.Reason, d.Limit)
	}
}

// If work takes longer than a window, no decision may wait for work that begins in it.
func TestSetpointDoesNotWaitForSlowWork(t *testing.T) {
	w := law.Window{Limit: 40, Min: 1, Max: 100, Elapsed: 2 * time.Second, Carried: 400, Refused: 10, InFlight: 1600}
	if d := start(t, law.Setpoint{}).Next(w); !d.Next.Carried && d.Next.Interval < 8*time.Second {
		t.Errorf("plan %+v after a latency of 8 s", d.Next)
	}
	w.Carried, w.Age = 0, 30*time.Second
	if d := start(t, law.Setpoint{}).Next(w); !d.Next.Carried || d.Next.MaxAge < time.Minute {
		t.Errorf("plan %+v after a window without completions", d.Next)
	}
	w.Samples, w.InFlight = 400, 1
	if d := start(t, law.Setpoint{}).Next(w); d.Next.Carried {
		t.Errorf("plan %+v after a latency of 5 ms", d.Next)
	}
}

func TestSetpointRetune(t *testing.T) {
	c := start(t, law.Setpoint{}).(law.Retuner)
	if !c.Retune(law.Setpoint{Budget: ms}) || c.Retune(law.Setpoint{Budget: -1}) || c.Retune(law.Fixed{}) {
		t.Error("retuned to what it should not, or not to what it should")
	}
}

func ExampleSetpoint() {
	// A pool of 50 workers of 50 ms each, under one and a half times its capacity.
	server := curve{func(n float64) float64 { return 20 * min(n, 50) }, 1500}
	bounds := law.Bounds{Min: 1, Max: 1000, Initial: 20}
	controller, err := law.Setpoint{}.Controller(bounds)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, limit := rand.New(rand.NewPCG(1, 2)), bounds.Initial
	for range 100 {
		decision := controller.Next(server.window(r, limit))
		limit = bounds.Clamp(decision.Limit, limit)
	}
	fmt.Println("near the knee:", limit > 40 && limit < 100)
	// Output: near the knee: true
}
