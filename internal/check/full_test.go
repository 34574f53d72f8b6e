package check

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// Asking whether a node is full before Acquire equals Acquire alone: all answers, all counts
// and all later behavior are equal. So a refusal by Full equals the refusal of Acquire, and
// without a refusal Full changed nothing.
func TestFullAnswersAsAcquireDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asks, acquires := newTwin(t, drawTwins(t)), (*twin)(nil)
		acquires = newTwin(t, asks.plan)
		asks.asks = true
		for range rapid.IntRange(10, 120).Draw(t, "steps") {
			s := asks.plan.drawStep(t)
			got := asks.take(s)
			s.refused = asks.refused
			if !asks.plan.prompt {
				continue // Full removed expired waiters, so that others took their places sooner
			}
			want := acquires.take(s)
			if !slices.EqualFunc(asks.estimates, acquires.estimates, nearly) {
				t.Fatalf("%+v: estimates with Full %v, without %v\n%s\n%s",
					s, asks.estimates, acquires.estimates, got, want)
			}
			if got != want {
				t.Fatalf("%+v: with Full\n%s\nwithout\n%s", s, got, want)
			}
		}
	})
}

// A twinPlan holds the settings of both twins.
type twinPlan struct {
	nodes   []admit.Settings
	cap     int // of a group, 0 without one
	limits  []int
	tenants bool // and so little time passes that they are not shuffled, which would change the order
	prompt  bool // no waiter stays after it expires
}

func drawTwins(t *rapid.T) twinPlan {
	p := twinPlan{
		limits:  rapid.SliceOfN(rapid.IntRange(1, 8), 1, 6).Draw(t, "limits"),
		prompt:  rapid.Bool().Draw(t, "prompt"),
		tenants: rapid.Bool().Draw(t, "tenants"),
	}
	count := 1
	if rapid.Bool().Draw(t, "in a group") {
		p.cap, count = rapid.IntRange(1, 6).Draw(t, "cap"), rapid.IntRange(1, 3).Draw(t, "nodes")
	}
	for range count {
		p.nodes = append(p.nodes, p.drawSettings(t))
	}
	return p
}

func (p twinPlan) drawSettings(t *rapid.T) admit.Settings {
	high := rapid.IntRange(1, 8).Draw(t, "max")
	tenants := 0
	if p.tenants {
		tenants = manyBuckets
	}
	return admit.Settings{
		Bounds: law.Bounds{Min: 1, Max: high, Initial: high},
		Interval: rapid.SampledFrom([]time.Duration{
			time.Millisecond, 100 * time.Millisecond, time.Hour,
		}).Draw(t, "interval"),
		Lookback:     10 * time.Second,
		MinSamples:   1,
		QueueSize:    rapid.SampledFrom([]int{0, 1, 2, 5, 20}).Draw(t, "size"),
		QueueTimeout: rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, time.Hour}).Draw(t, "timeout"),
		Order:        anyOrder.Draw(t, "order"),
		Lanes:        lanes,
		Tenants:      tenants,
		Shadow:       oneIn(t, 20, "shadow"),
		Observed:     true,
	}
}

// A twinStep is a step of both twins. Fields of other kinds are ignored.
type twinStep struct {
	kind             string
	node, index      int
	weight, lane     int
	tenant           uint16
	deadline, passes time.Duration
	outcome          window.Outcome
	settings         admit.Settings
	refused          bool // by Full
	pace             admit.Pace
}

func (p twinPlan) drawStep(t *rapid.T) twinStep {
	s := twinStep{
		kind: rapid.SampledFrom([]string{
			"request", "request", "request", "request", "done", "done", "pass", "pass", "leave", "ask",
			"pace", "cap", "update", "end",
		}).Draw(t, "kind"),
		node:   rapid.IntRange(0, 5).Draw(t, "node"),
		index:  rapid.IntRange(0, 50).Draw(t, "index"),
		weight: rapid.SampledFrom([]int{1, 1, 1, 1, 2, 4}).Draw(t, "weight"),
		lane:   rapid.IntRange(0, lanes-1).Draw(t, "lane"),
		tenant: uint16(firstTenant + rapid.IntRange(0, manyTenants-1).Draw(t, "tenant")),
		deadline: rapid.SampledFrom([]time.Duration{
			0, 0, time.Microsecond, 5 * time.Millisecond, 50 * time.Millisecond, time.Second,
			time.Hour,
		}).Draw(t, "deadline"),
		passes: rapid.SampledFrom([]time.Duration{
			0, time.Microsecond, time.Millisecond, 20 * time.Millisecond, time.Second,
			11 * time.Second,
		}).Draw(t, "passes"),
		outcome: rapid.SampledFrom([]window.Outcome{
			window.Success, window.Success, window.Failure, window.Ignore,
		}).Draw(t, "outcome"),
	}
	if p.tenants {
		s.passes = min(s.passes, 20*time.Millisecond)
	}
	switch s.kind {
	case "update":
		s.settings = p.drawSettings(t)
	case "pace":
		s.pace = admit.Pace{
			Rate:  rapid.SampledFrom([]float64{0, 1, 100}).Draw(t, "rate"),
			Burst: rapid.SampledFrom([]float64{1, 5}).Draw(t, "burst"),
		}
	case "end":
		if !oneIn(t, 10, "ends") {
			s.kind = "pass"
		}
	}
	return s
}
