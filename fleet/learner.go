package fleet

import (
	"fmt"
	"sync"

	"github.com/weir-go/weir/law"
)

// A Learner is the law of a limiter that learns together with the limiters of the other members.
// Set it as the [weir.Config].Law of one limiter, and as the [Config].Learner of its member. Make
// one with [Learn]. All methods are safe for concurrent use.
//
// The limiter decides at once, by its own windows. The reports of the other members only remove the
// differences between the limiters: in the latency without load, in the fair parts, and in the time
// that each limiter has to measure. A new member takes over the latency without load. Without the
// store, the limiter continues alone from its present limit, once its lease has ended.
type Learner struct {
	law law.Setpoint

	mu      sync.Mutex
	started bool        // a limiter has a controller
	report  *law.Report // of the last window, nil if no window has closed since the last advice
	advice  *law.Advice // advice that the controller has not taken yet
}

// Learn returns a learner with the settings of the default law. Its limiter starts with two slots
// and not four, unless [weir.Config].Initial says otherwise.
func Learn(l law.Setpoint) *Learner { return &Learner{law: l} }

// slowStart is the initial limit. It is low, because limiters that start together learn their
// number only later. With three, shared systems score 0.4 points less.
const slowStart = 2

// Start returns the limit to start from.
func (*Learner) Start() int { return slowStart }

// String returns the text of the law.
func (l *Learner) String() string { return fmt.Sprint(l.law) }

// Unwrap returns the law. With it [weir.Limiter.Restore] takes the state of a limiter with the law
// alone, and a limiter with the law alone takes the state of a Learner.
func (l *Learner) Unwrap() law.Law { return l.law }

// Controller starts the law.
func (l *Learner) Controller(b law.Bounds) (law.Controller, error) {
	c, err := l.law.Controller(b)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started = true
	return &learning{c.(apt), l}, nil
}

// used reports whether a limiter has the law.
func (l *Learner) used() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started
}

// apt is the interface of a controller of the default law.
type apt interface {
	law.Peer
	law.Resumer
	law.Retuner
}

// learning is a controller that passes reports and advice.
type learning struct {
	apt
	learner *Learner
}

// Next takes advice if there is any, and then reports on the window.
func (c *learning) Next(w law.Window) law.Decision {
	l := c.learner
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.advice != nil {
		c.Advise(*l.advice)
		l.advice = nil
	}
	d := c.apt.Next(w)
	if w.Elapsed > 0 {
		l.report = new(c.Report())
	}
	return d
}

// Retune takes new settings if the law is the same Learner.
func (c *learning) Retune(to law.Law) bool {
	l, ok := to.(*Learner)
	return ok && l == c.learner && c.apt.Retune(l.law)
}

// advise passes advice to the controller. It drops the report, because reports from before the
// advice are of no use any more.
func (l *Learner) advise(a law.Advice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advice, l.report = &a, nil
}

// last returns the report of the last window, or nil. It returns the same pointer until there is a
// new report.
func (l *Learner) last() *law.Report {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report
}
