package law_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// No function of the package panics on any input, or returns an impossible result.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, q := range []float64{nan, inf, -inf, -1, 0, 2} {
		if got := law.SortedOf(3, 1, 2).Quantile(q); got < 1 || got > 3 {
			t.Errorf("Quantile(%v) is %v: want one of the three", q, got)
		}
		if got := law.SortedOf().Quantile(q); got != 0 {
			t.Errorf("Quantile(%v) of none is %v", q, got)
		}
		if got := (law.Window{}).Quantile(q); got != 0 {
			t.Errorf("Quantile(%v) of an empty window is %v", q, got)
		}
	}
	for _, w := range []law.Window{
		{}, {Elapsed: -time.Second, Samples: -1}, {Samples: math.MaxInt, Elapsed: math.MaxInt64},
	} {
		for _, share := range []float64{w.ErrorRate(), w.TimeoutRate(), w.Throughput()} {
			if math.IsNaN(share) || math.IsInf(share, 0) || share < 0 {
				t.Errorf("%+v: a rate of %v", w, share)
			}
		}
	}
	for _, r := range []law.Reason{
		{Code: 255, Signal: math.MaxUint16, Have: nan, Want: inf},
		{Code: law.Above, Have: -inf},
		{Code: law.TooFew, Have: nan},
	} {
		if text := law.Explain(r, math.MinInt, math.MaxInt); text == "" || strings.Contains(text, "\n") {
			t.Errorf("%+v: %q", r, text)
		}
	}
}

// With bounds that no limiter would pass, a law returns an error, or keeps to them.
func TestBoundsThatCannotBe(t *testing.T) {
	for _, l := range everyLaw {
		for _, b := range []law.Bounds{
			{},
			{Min: -5, Max: -1, Initial: -3},
			{Min: 9, Max: 1, Initial: 5},
			{Min: 1, Max: math.MaxInt, Initial: math.MaxInt},
		} {
			c, err := l.Controller(b)
			if err != nil {
				continue
			}
			for range 3 {
				c.Next(law.Window{
					Limit: b.Initial, Min: b.Min, Max: b.Max, Elapsed: time.Second, Samples: 10,
					Latencies: law.SortedOf(1),
				})
			}
		}
	}
}

// A pilot is Setpoint before a pool of workers of 50 ms, 50 unless they are changed, under one and
// a half times its capacity.
type pilot struct {
	workers    float64
	controller law.Controller
	bounds     law.Bounds
	limit      int
	plan       law.Plan
	now        time.Time
	rand       *rand.Rand
}

func newPilot(t *testing.T, b law.Bounds) *pilot {
	t.Helper()
	p := &pilot{
		workers: 50, bounds: b, limit: b.Initial, now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC),
		rand: rand.New(rand.NewPCG(21, 22)),
	}
	p.replace(t, law.Setpoint{})
	return p
}

// replace makes another law steer from here on.
func (p *pilot) replace(t *testing.T, l law.Law) {
	t.Helper()
	b := p.bounds
	b.Initial = p.limit
	c := must.Have(l.Controller(b))(t)
	p.controller = c
	p.plan = c.Next(law.Window{Limit: p.limit, Min: b.Min, Max: b.Max}).Next
}

// window measures as planned.
func (p *pilot) window() law.Window {
	w := curve{func(n float64) float64 { return 20 * min(n, p.workers) }, 30 * p.workers}.window(p.rand, p.limit)
	p.now = p.now.Add(p.plan.Settle + p.plan.Interval)
	longer := p.plan.Interval.Seconds() / w.Elapsed.Seconds()
	w.Min, w.Max, w.Elapsed, w.Closed = p.bounds.Min, p.bounds.Max, p.plan.Interval, p.now
	w.Samples, w.Refused = max(2, int(longer*float64(w.Samples))), int(longer*float64(w.Refused))
	w.Weight, w.Sojourn, w.Crowd = w.Samples, w.Mean, w.InFlight
	w.First, w.Last = p.limit, p.limit
	return w
}

// show passes a window to the law.
func (p *pilot) show(t *testing.T, w law.Window) law.Decision {
	t.Helper()
	d := p.controller.Next(w)
	if !(d.Limit >= float64(p.bounds.Min) && d.Limit <= float64(p.bounds.Max)) || d.Limit != math.Trunc(d.Limit) {
		t.Fatalf("limit %v under %+v from %+v", d.Limit, p.bounds, w)
	}
	if math.IsNaN(d.Reason.Have+d.Reason.Want) || d.Reason.String() == "" {
		t.Fatalf("reason %+v from %+v", d.Reason, w)
	}
	if n := d.Next; n.Interval <= 0 || n.Settle < 0 || n.MaxAge < n.Interval || n.MinSamples <= 0 {
		t.Fatalf("plan %+v from %+v", n, w)
	}
	p.limit, p.plan = int(d.Limit), d.Next
	return d
}

// fly shows good windows for the given time and returns the mean limit over its latter half.
func (p *pilot) fly(t *testing.T, span time.Duration) float64 {
	t.Helper()
	begun, area, seconds := p.now, 0.0, 0.0
	for p.now.Sub(begun) < span {
		limit, last := p.limit, p.now
		p.show(t, p.window())
		if passed := p.now.Sub(last).Seconds(); p.now.Sub(begun) > span/2 {
			area, seconds = area+float64(limit)*passed, seconds+passed
		}
	}
	return area / seconds
}

// The limit is right from somewhat below the workers to twice as many: work beyond that waits
// for too long.
const lowest, highest = 40, 105

// steers fails unless good windows lead the limit to the server's best range.
func (p *pilot) steers(t *testing.T) {
	t.Helper()
	if mean := p.fly(t, 20*time.Second); mean < lowest || mean > highest {
		t.Errorf("limit %.1f, want %d to %d", mean, lowest, highest)
	}
}

// badClocks are ways in which the wall clock of the i-th window may be wrong.
var badClocks = map[string]func(w *law.Window, i int){
	"a clock an hour ahead":  func(w *law.Window, _ int) { w.Closed = w.Closed.Add(time.Hour) },
	"a clock an hour behind": func(w *law.Window, _ int) { w.Closed = w.Closed.Add(-time.Hour) },
	"a clock that goes back and forth": func(w *law.Window, i int) {
		w.Closed = w.Closed.Add(time.Duration(2*(i%2)-1) * time.Hour)
	},
	"a clock that stands":          func(w *law.Window, _ int) { w.Closed = time.Unix(1_800_000_000, 0) },
	"no clock":                     func(w *law.Window, _ int) { w.Closed = time.Time{} },
	"a clock that comes and goes":  func(w *law.Window, i int) { w.Closed = []time.Time{{}, w.Closed}[i%2] },
	"a clock at the beginning":     func(w *law.Window, i int) { w.Closed = time.Unix(0, int64(i%2)) },
	"a clock before the beginning": func(w *law.Window, _ int) { w.Closed = time.Unix(-1e9, 0) },
	"a clock beyond nanoseconds":   func(w *law.Window, _ int) { w.Closed = time.Unix(1e12, 0) },
}

// badWindows are ways in which the measurements may be wrong.
var badWindows = map[string]func(w *law.Window, i int){
	"work in flight that is no number": func(w *law.Window, _ int) { w.InFlight = math.NaN() },
	"a crowd that is no number":        func(w *law.Window, _ int) { w.Crowd = math.NaN() },
	"neither is a number":              func(w *law.Window, _ int) { w.InFlight, w.Crowd = math.NaN(), math.NaN() },
	"infinite work in flight":          func(w *law.Window, _ int) { w.InFlight, w.Crowd = math.Inf(1), math.Inf(1) },
	"less than no work in flight":      func(w *law.Window, _ int) { w.InFlight, w.Crowd = -5, math.Inf(-1) },

	"fewer than no samples":  func(w *law.Window, _ int) { w.Samples = -w.Samples },
	"fewer than no failures": func(w *law.Window, _ int) { w.Failures, w.Timeouts = -1000, -1000 },
	"fewer than no refusals": func(w *law.Window, _ int) { w.Refused, w.Waited = -1000, -1000 },
	"less carried than none": func(w *law.Window, _ int) { w.Carried, w.CarriedFailed = -1000, -1000 },
	"less than no weight":    func(w *law.Window, _ int) { w.Weight = -1000 },
	"less than no work":      func(w *law.Window, _ int) { w.Peak, w.First, w.Last = -1000, -1000, -1000 },

	"less than no time": func(w *law.Window, _ int) {
		w.Elapsed, w.Mean, w.Sojourn, w.Deviation, w.Age = -1, -1, -1, -1, -1
	},
	"no time":                func(w *law.Window, _ int) { w.Elapsed, w.Mean, w.Sojourn, w.Deviation = 0, 0, 0, 0 },
	"latencies of nothing":   func(w *law.Window, _ int) { w.Mean, w.Sojourn, w.Deviation, w.Least = 0, 0, 0, 0 },
	"failures only":          func(w *law.Window, _ int) { w.Failures, w.Samples, w.Weight = w.Samples, 0, 0 },
	"timeouts only":          func(w *law.Window, _ int) { w.Timeouts, w.Samples, w.Weight = w.Samples, 0, 0 },
	"carried failures only":  func(w *law.Window, _ int) { w.CarriedFailed, w.Samples, w.Weight = w.Samples, 0, 0 },
	"nothing but the bounds": func(w *law.Window, _ int) { *w = law.Window{Limit: w.Limit, Min: w.Min, Max: w.Max} },
}

// TestSetpointAfterBadInput: after any window the limit is valid, and good windows steer
// again.
func TestSetpointAfterBadInput(t *testing.T) {
	for _, kind := range []map[string]func(*law.Window, int){badClocks, badWindows} {
		for name, spoil := range kind {
			t.Run(name, func(t *testing.T) {
				for _, before := range []time.Duration{0, 10 * time.Second} {
					p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
					p.fly(t, before)
					for i := range 100 {
						w := p.window()
						spoil(&w, i)
						p.show(t, w)
					}
					p.steers(t)
				}
			})
		}
	}
}

// TestSetpointWithBadClock: the law still steers with a bad clock.
func TestSetpointWithBadClock(t *testing.T) {
	const windows = 600
	for name, spoil := range badClocks {
		p, sum := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20}), 0
		for i := range windows {
			w := p.window()
			spoil(&w, i)
			p.show(t, w)
			if i >= windows/2 {
				sum += p.limit
			}
		}
		if mean := float64(sum) / (windows / 2); mean < lowest || mean > highest {
			t.Errorf("%s: limit %.1f, want %d to %d", name, mean, lowest, highest)
		}
	}
}

// TestSetpointStartsAnywhere: an initial limit that is far off is left behind. At 100,000 a
// request takes 100 s, so there it takes minutes.
func TestSetpointStartsAnywhere(t *testing.T) {
	for initial, within := range map[int]time.Duration{1: 0, 100_000: time.Hour} {
		p := newPilot(t, law.Bounds{Min: 1, Max: 100_000, Initial: initial})
		p.fly(t, within)
		p.steers(t)
	}
}

// TestSetpointPinned: if the bounds allow only one limit, it is that. When the bounds are
// moved apart, the state from before does no harm.
func TestSetpointPinned(t *testing.T) {
	for _, only := range []int{1, 50, 1000} {
		p := newPilot(t, law.Bounds{Min: only, Max: only, Initial: only})
		p.fly(t, time.Minute)
		if p.limit != only {
			t.Errorf("limit %d, want %d", p.limit, only)
		}
		p.bounds.Min, p.bounds.Max = 1, 1000
		p.fly(t, 20*time.Second)
		p.steers(t)
	}
}

// probe shows good windows until the law has lowered the limit to measure.
func (p *pilot) probe(t *testing.T) {
	t.Helper()
	for range 2000 {
		before := p.limit
		if d := p.show(t, p.window()); d.Reason.Code == law.Probing && p.limit < before {
			return
		}
	}
	t.Fatal("never measures with less load")
}

// TestSetpointInMidProbe: other settings, or another controller, while the limit is lowered
// to measure do not leave it there.
func TestSetpointInMidProbe(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, p *pilot){
		"retuned": func(t *testing.T, p *pilot) {
			for _, l := range []law.Law{law.Setpoint{Budget: 200 * ms}, law.Setpoint{}} {
				if !p.controller.(law.Retuner).Retune(l) {
					t.Fatalf("declines %v", l)
				}
			}
		},
		"replaced": func(t *testing.T, p *pilot) { p.replace(t, law.Setpoint{}) },
		"declined": func(t *testing.T, p *pilot) {
			if p.controller.(law.Retuner).Retune(law.Setpoint{Budget: -1}) {
				t.Fatal("took a bad budget")
			}
		},
		"clock lost":   func(_ *testing.T, p *pilot) { p.now = time.Time{} },
		"clock back":   func(_ *testing.T, p *pilot) { p.now = p.now.Add(-time.Hour) },
		"other bounds": func(_ *testing.T, p *pilot) { p.bounds.Max = max(60, p.limit) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPilot(t, law.Bounds{Min: 1, Max: 1000, Initial: 20})
			started := p.now
			for range 3 {
				p.probe(t)
				change(t, p)
				p.steers(t)
				p.now = started // without a clock ticks are four times as rare
			}
		})
	}
}
