package throttle

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/pid"
)

// LoadPID holds the load at a setpoint, see package pid for the controller and the
// package documentation for how its effort becomes a pace. It suits any signal
// that falls when there is less work: memory, waits, transactions, latency.
type LoadPID struct {
	// Setpoint is the load to hold, more than 0. Defaults to 0.85.
	Setpoint float64

	// Kp, Ki (per second) and Kd (in seconds) are the gains from load to effort.
	// If all are 0 they are 0.5, 0.1 and 0.05.
	Kp, Ki, Kd float64

	// Filter is the time constant of the filter before the derivative. Defaults to 450 ms.
	Filter time.Duration

	// MaxDelay is the slowest pace: the time between two operations of cost 1 at
	// full effort. Defaults to 1 s.
	MaxDelay time.Duration
}

// The gains and delays come from the plan behind this package. The filters of the plan moved by
// alpha = 0.2 and 0.3 of the way with each sample. With a sample every 100 ms their time constants
// are -100 ms / ln(1 - alpha), 448 and 280 ms.
var (
	writePID = LoadPID{Setpoint: 0.85, Kp: 0.5, Ki: 0.1, Kd: 0.05, Filter: 450 * time.Millisecond, MaxDelay: time.Second}
	readPID  = LoadPID{Setpoint: 0.85, Kp: 0.3, Ki: 0.05, Kd: 0.02, Filter: 280 * time.Millisecond, MaxDelay: 200 * time.Millisecond}
)

func (p LoadPID) complete() LoadPID {
	if p.Kp == 0 && p.Ki == 0 && p.Kd == 0 {
		p.Kp, p.Ki, p.Kd = writePID.Kp, writePID.Ki, writePID.Kd
	}
	p.Setpoint = cmp.Or(p.Setpoint, writePID.Setpoint)
	p.Filter = cmp.Or(p.Filter, writePID.Filter)
	p.MaxDelay = cmp.Or(p.MaxDelay, writePID.MaxDelay)
	return p
}

// check finds values out of range.
func (p LoadPID) check(field string) error {
	return cmp.Or(
		notNegative(field+".Setpoint", p.Setpoint),
		notNegative(field+".Kp", p.Kp),
		notNegative(field+".Ki", p.Ki),
		notNegative(field+".Kd", p.Kd),
		notNegative(field+".Filter", p.Filter),
		notNegative(field+".MaxDelay", p.MaxDelay),
	)
}

func (p LoadPID) start(field string) (controller, error) {
	if err := p.check(field); err != nil {
		return nil, err
	}
	p = p.complete()
	loop, err := pid.New(pid.Config{
		Kp: p.Kp, Ki: p.Ki, Kd: p.Kd, Tau: p.Filter,
		Setpoint: p.Setpoint, Reverse: true, Min: 0, Max: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, field, err)
	}
	return &pidLaw{loop: loop, slowest: 1 / p.MaxDelay.Seconds()}, nil
}

// pidLaw is a LoadPID at work.
type pidLaw struct {
	loop    *pid.Controller
	slowest float64 // cost per second at full effort
	fastest float64 // cost per second at the least effort: the flow that was measured without a pace
}

// flowMemory is the time constant with which the fastest pace falls to a lower flow, while the
// effort is 0.
const flowMemory = time.Minute

// headroom is the least ratio of the fastest pace to the slowest pace: between equal paces the
// controller would have no effect.
const headroom = 2

func (l *pidLaw) next(s signals) float64 {
	if l.loop.Snapshot().Output == 0 {
		l.fastest = max(s.flow, l.fastest*(1-share(s.dt, flowMemory)))
	}
	return l.rate(l.loop.Update(s.load, s.dt))
}

// rate is the pace for an effort, on a logarithmic scale.
func (l *pidLaw) rate(effort float64) float64 {
	if effort <= 0 {
		return 0
	}
	return l.slowest * math.Pow(l.span(), 1-effort)
}

func (l *pidLaw) span() float64 { return max(l.fastest/l.slowest, headroom) }

// resume restarts the controller from a pace that another law has found.
func (l *pidLaw) resume(rate, flow float64) {
	if rate <= 0 {
		l.loop.Reset(0)
		return
	}
	l.fastest = max(flow, rate, l.fastest)
	l.loop.Reset(1 - math.Log(rate/l.slowest)/math.Log(l.span()))
}
