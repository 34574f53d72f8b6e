package peers

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/go-kratos/aegis/ratelimit"
	"github.com/go-kratos/aegis/ratelimit/bbr"

	"github.com/weir-go/weir/sim"
)

// A peer is another project's limiter.
type peer struct {
	name string
	gate func(bounds sim.Limiter, cpu *processor) sim.Gate
}

// run simulates a system controlled by the peer, in a bubble in which the peer's code reads
// the simulation's clock.
func (p peer) run(t *testing.T, s sim.Scenario, seed uint64) (r *sim.Result) {
	synctest.Test(t, func(t *testing.T) {
		cpu := newProcessor(s.Server)
		s.Server = watched{s.Server, cpu}
		var err error
		if r, err = sim.RunForeign(s, sim.Foreign{
			Name:  p.name,
			New:   func(bounds sim.Limiter) sim.Gate { return p.gate(bounds, cpu) },
			Sleep: time.Sleep,
		}, seed); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// Peers run with the scenario's bounds of the limit, which the laws have too, and otherwise
// with their defaults unless the name says something else.
var peers = []peer{
	{"failsafe-go", func(b sim.Limiter, _ *processor) sim.Gate {
		return adaptive{builder(b).Build()}
	}},
	{"failsafe-go(window=100ms)", func(b sim.Limiter, _ *processor) sim.Gate {
		return adaptive{builder(b).WithRecentWindow(100*time.Millisecond, 30*time.Second, 50).Build()}
	}},
	{"aegis-bbr", func(_ sim.Limiter, cpu *processor) sim.Gate {
		limiter := bbr.NewLimiter()
		setCPU(limiter, cpu.usage)
		return aegis{limiter, cpu}
	}},
	{"aegis-bbr(cpu_threshold=0)", func(_ sim.Limiter, cpu *processor) sim.Gate {
		return aegis{bbr.NewLimiter(bbr.WithCPUThreshold(0)), cpu}
	}},
}

func builder(b sim.Limiter) adaptivelimiter.Builder[any] {
	return adaptivelimiter.NewBuilder[any]().WithLimits(uint(b.Min), uint(b.Max), uint(b.Initial))
}

// adaptive treats work as the executor of failsafe-go does: it records completed work,
// failed or not, and drops cancelled work.
type adaptive struct {
	adaptivelimiter.AdaptiveLimiter[any]
}

func (f adaptive) Acquire(time.Duration) (func(time.Duration, sim.Outcome), bool) {
	permit, ok := f.TryAcquirePermit()
	if !ok {
		return nil, false
	}
	return func(_ time.Duration, how sim.Outcome) {
		if how == sim.Timeout {
			permit.Drop()
			return
		}
		permit.Record()
	}, true
}

type aegis struct {
	*bbr.BBR
	cpu *processor
}

// Limit is unknown: aegis has no limit while the processor is idle, and reading the limit it
// would have refreshes its state.
func (aegis) Limit() int { return 0 }

func (a aegis) Acquire(now time.Duration) (func(time.Duration, sim.Outcome), bool) {
	a.cpu.until(now)
	done, err := a.Allow()
	if err != nil {
		return nil, false
	}
	return func(time.Duration, sim.Outcome) { done(ratelimit.DoneInfo{}) }, true
}
