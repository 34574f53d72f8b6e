package admit

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// loop is the control loop of a node: its controller, and the time and the window of the
// controller's next call.
type loop struct {
	due        int64 // when the window closes
	expired    int64 // when the window closes regardless of samples
	minSamples int32
	maxSamples int32 // 0 if the window does not close early
	control    law.Controller
	decided    reason // the law's last reason
	carried    bool   // work that started before the window counts as a sample too
}

// ready reports whether a window that is due has enough samples for a decision. A window without
// enough samples stays open for the look-back and then closes all the same: the law must learn that
// hardly any work completes.
func (l *loop) ready(m *window.Meter, now int64) bool {
	n := l.completed(m)
	if n == 0 { // so that the law soon learns that the downstream serves nothing
		n = m.Lost()
	}
	return n >= int(l.minSamples) || l.sampled(m) || now >= l.expired
}

// completed is the number of samples that count towards the minimum.
func (l *loop) completed(m *window.Meter) int {
	if l.carried {
		return m.Completed() + m.Carried()
	}
	return m.Completed()
}

// sampled reports whether the window has its maximum of samples, and so closes early.
func (l *loop) sampled(m *window.Meter) bool {
	return l.maxSamples > 0 && m.Completed() >= int(l.maxSamples)
}

// closes reports whether the window is due, or closes early.
func (l *loop) closes(m *window.Meter, now int64) bool { return now >= l.due || l.sampled(m) }

// Controller starts a law.
func Controller(l law.Law, b law.Bounds) (law.Controller, error) {
	control, err := l.Controller(b)
	if err == nil && control == nil {
		err = fmt.Errorf("%T returned neither a controller nor an error: want one of them", l)
	}
	return control, err
}

// first asks a new controller how to measure the first window, and for the first limit, by showing
// it an empty window.
func first(c law.Controller, b law.Bounds, fx *Effects) law.Decision {
	return ask(c, law.Window{Limit: b.Initial, Min: b.Min, Max: b.Max}, fx)
}

// ask calls the law. A law that panics must not leave the node locked: the limit is held, and
// the panic continues once the lock is free.
func ask(c law.Controller, w law.Window, fx *Effects) (d law.Decision) {
	d = law.Decision{Limit: float64(w.Limit)}
	defer fx.catch()
	return c.Next(w)
}

// catch keeps the panic of a law. It must be deferred.
func (fx *Effects) catch() {
	if r := recover(); r != nil {
		fx.Notable, fx.Panic = true, fmt.Errorf("law panicked: %v\n\n%s", r, debug.Stack())
	}
}

// plan sets the time at which the next window closes, and the samples that it needs. It returns the
// look-back of the law.
func (l *loop) plan(now int64, p law.Plan, settle int64, c *conf, usual int64) (lookback int64) {
	interval, lookback := span(p.Interval), span(p.MaxAge)
	if interval == 0 {
		interval = c.interval
	}
	if lookback == 0 {
		lookback = max(usual, interval)
	}
	l.minSamples = count(p.MinSamples)
	if l.minSamples == 0 {
		l.minSamples = c.minSamples
	}
	l.maxSamples = count(p.MaxSamples)
	l.carried = p.Carried
	l.due = now + settle + interval
	l.expired = now + settle + lookback
	return lookback
}

// retune passes the law to the current controller, and reports whether the controller took it over.
func (l *loop) retune(next law.Law, fx *Effects) bool {
	defer fx.catch()
	tuner, ok := l.control.(law.Retuner)
	return ok && tuner.Retune(next)
}

// count bounds a number of samples.
func count(samples int) int32 { return int32(min(max(samples, 0), math.MaxInt32)) }
