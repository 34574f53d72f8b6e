package peers

import (
	"math"
	"reflect"
	"time"
	"unsafe"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/go-kratos/aegis/ratelimit"
	"github.com/go-kratos/aegis/ratelimit/bbr"

	"github.com/weir-go/weir/sim"
)

// A gate is a limiter that reads the clock itself and never lets anyone wait.
type gate interface {
	// acquire admits work, to be ended with done, or refuses it.
	acquire() (done func(cancelled bool), admitted bool)
	// limit is the limit now, 0 if it cannot be asked without disturbing it.
	limit() int
}

// A peer makes gates.
type peer struct {
	name string
	gate func(bounds sim.Limiter, cpu *processor) gate
}

// Peers are run with the scenario's bounds of the limit, which are those that the laws
// have, and otherwise with their defaults unless the name says something else.
var peers = []peer{
	{"failsafe-go", func(b sim.Limiter, _ *processor) gate {
		return adaptive{builder(b).Build()}
	}},
	{"failsafe-go(window=100ms)", func(b sim.Limiter, _ *processor) gate {
		return adaptive{builder(b).WithRecentWindow(100*time.Millisecond, 30*time.Second, 50).Build()}
	}},
	{"aegis-bbr", func(_ sim.Limiter, cpu *processor) gate {
		limiter := bbr.NewLimiter()
		setCPU(limiter, cpu.usage)
		return aegis{limiter}
	}},
	{"aegis-bbr(cpu_threshold=0)", func(sim.Limiter, *processor) gate {
		return aegis{bbr.NewLimiter(bbr.WithCPUThreshold(0))}
	}},
}

func builder(b sim.Limiter) adaptivelimiter.Builder[any] {
	return adaptivelimiter.NewBuilder[any]().WithLimits(uint(b.Min), uint(b.Max), uint(b.Initial))
}

// adaptive treats work as the executor of failsafe-go does: what ended is recorded,
// error or not, and what was cancelled is dropped.
type adaptive struct {
	adaptivelimiter.AdaptiveLimiter[any]
}

func (f adaptive) limit() int { return f.Limit() }

func (f adaptive) acquire() (func(bool), bool) {
	permit, ok := f.TryAcquirePermit()
	if !ok {
		return nil, false
	}
	return func(cancelled bool) {
		if cancelled {
			permit.Drop()
			return
		}
		permit.Record()
	}, true
}

// aegis has no limit of its own while the processor is idle, and asking for the one
// that it would have refreshes what it remembers.
type aegis struct{ *bbr.BBR }

func (aegis) limit() int { return 0 }

func (a aegis) acquire() (func(bool), bool) {
	done, err := a.Allow()
	if err != nil {
		return nil, false
	}
	return func(bool) { done(ratelimit.DoneInfo{}) }, true
}

// setCPU has the limiter ask for the use of a simulated processor. It would ask for that
// of this machine, which a goroutine started by the package's init follows in real
// time, and there is no option for another source.
func setCPU(limiter *bbr.BBR, usage func() int64) {
	field := reflect.ValueOf(limiter).Elem().FieldByName("cpu")
	field = reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	field.Set(reflect.ValueOf(usage).Convert(field.Type()))
}

// A processor is the server's, as if all its work were computing: it is fully used when
// as many jobs are there as the server can do at once. Its use is averaged as aegis
// does it.
type processor struct {
	atOnce  float64
	jobs    int
	sampled time.Duration // when the next sample is due
	average int64         // in thousandths
}

const (
	cpuSample = 500 * time.Millisecond
	cpuDecay  = 0.95
)

func newProcessor(server sim.Server) *processor {
	p := &processor{sampled: cpuSample, atOnce: math.Inf(1)}
	switch s := server.(type) {
	case sim.Pool:
		p.atOnce = float64(s.Workers)
	case sim.Sharing:
		p.atOnce = s.Cores
	case sim.USL:
		p.atOnce = math.Sqrt((1 - s.Alpha) / s.Beta)
	case sim.Quadratic:
		p.atOnce = s.Double
	}
	return p
}

// until takes the samples that are due by now.
func (p *processor) until(now time.Duration) {
	for ; p.sampled <= now; p.sampled += cpuSample {
		use := math.Min(1000, 1000*float64(p.jobs)/p.atOnce)
		p.average = int64(float64(p.average)*cpuDecay + use*(1-cpuDecay))
	}
}

func (p *processor) usage() int64 { return p.average }

// constant is a constant limit, for the oracle.
type constant struct{ most, inflight int }

func (c *constant) limit() int { return c.most }

func (c *constant) acquire() (func(bool), bool) {
	if c.inflight >= c.most {
		return nil, false
	}
	c.inflight++
	return func(bool) { c.inflight-- }, true
}
