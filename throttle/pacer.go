package throttle

import (
	"math"
	"slices"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/load"
)

// A pacer decides on the pace of a side. It is not safe for concurrent use.
type pacer struct {
	op      Op
	scope   load.Scope
	target  time.Duration // of the latency, 0 for no target
	tick    time.Duration
	monitor *load.Monitor // nil if the side has no monitor
	laws    sideLaws

	pace      Pace         // in force
	cost      uint64       // admitted up to the last decision
	flow      float64      // cost per second, smoothed
	feeds     load.Feeds   // of the monitor, as of the last decision
	seen      SideSnapshot // the inputs of that decision
	symptoms  symptoms
	held      float64 // bounds the rate while signals are missing, 0 for no bound
	emergency emergency
	notice    notice
	events    []Event // not reported yet
}

func newPacer(op Op, field string, conf Side, c Config) (pacer, error) {
	laws, err := startLaws(op, field, conf.Laws, c.Monitor)
	return pacer{
		op: op, scope: [ops]load.Scope{Read: load.Reads, Write: load.Writes}[op],
		target: conf.LatencyTarget, tick: c.Tick, monitor: c.Monitor,
		laws: laws, emergency: emergency{enter: c.Emergency},
	}, err
}

// begin starts without a pace, whatever an earlier Run has left.
func (p *pacer) begin(cost uint64) {
	p.cost = max(p.cost, cost)
	p.held = 0
	p.laws.resume(0, p.flow)
}

func (p *pacer) decide(snap weir.Snapshot, cost uint64, now time.Time, dt time.Duration) (next Pace) {
	since := p.admitted(cost, dt)
	in := signals{dt: dt, cost: since, flow: p.flow}
	alarm := p.look(snap, &in)
	p.notify(now)
	wanted := stricter(p.laws.next(in, p.seen.Degraded), p.ease(dt))
	p.judge(alarm, now)
	return p.paceOf(stricter(wanted, p.emergency.bound()))
}

// judge begins or ends an emergency.
func (p *pacer) judge(alarm load.Level, now time.Time) {
	if kind := p.emergency.judge(alarm, p.flow, now); kind != 0 {
		p.report(now, kind, nil)
	}
}

func (p *pacer) report(now time.Time, kind Kind, err error) {
	p.events = append(p.events, Event{At: now, Op: p.op, Kind: kind, Level: p.seen.Level, Err: err})
}

// admitted returns the cost admitted since the last decision.
func (p *pacer) admitted(cost uint64, dt time.Duration) float64 {
	since := float64(max(0, int64(cost-p.cost)))
	p.cost = max(p.cost, cost) // after a correction that lowered the cost, the next amounts are smaller
	p.flow += (since/dt.Seconds() - p.flow) * share(dt, time.Second)
	return since
}

// look reads the monitor and the side's own operations. It returns the level of the readings that
// can begin an emergency.
func (p *pacer) look(snap weir.Snapshot, in *signals) (alarm load.Level) {
	was := p.seen.Degraded
	p.seen = SideSnapshot{
		Symptom: p.symptoms.update(snap.Age, snap.Mean, in.dt),
		Latency: latencyLoad(p.target, snap),
	}
	in.load = p.seen.Latency.Load()
	if m := p.monitor; m != nil {
		feeds := m.Snapshot()
		p.feeds, p.seen.Level = feeds, feeds.Level(p.scope, nil)
		p.seen.Degraded = p.seen.Level.Degraded
		paced := p.seen.Level
		if p.laws.bound {
			paced = feeds.Level(p.scope, byPace)
		}
		in.load = max(in.load, paced.Load)
		in.drain = feeds.Drain()
		alarm = feeds.Level(p.scope, p.laws.alarm)
	}
	if p.monitor == nil || p.seen.Degraded {
		in.load = max(in.load, p.seen.Symptom.Load())
	}
	p.seen.Load = in.load
	if p.seen.Degraded != was {
		p.change()
	}
	return alarm
}

func byPace(f load.FeedSnapshot) bool { return f.Actuator == load.ByPace }

// change restarts the laws: from the present pace when signals are lost, and from the bound of ease
// when the signals are back. The symptoms mean nothing once the database answers.
func (p *pacer) change() {
	if p.seen.Degraded {
		p.held = p.pace.Rate
	}
	p.laws.resume(p.held, p.flow)
	if !p.seen.Degraded {
		p.held = 0
	}
}

// easesIn is the time in which a remembered bound doubles.
const easesIn = time.Minute

// mostHeld is above the rate of any database, and ends the bound. When the signals are back, a
// LoadPID takes the bound for its fastest pace: with the bound after a day without signals, only
// its full effort would slow any operation.
const mostHeld = 1e12

// ease returns a bound on the pace while the signals are lost, and 0 if they are not. Symptoms may
// be fine while a backlog grows, so the bound is the pace at which the signals were lost. It rises
// with time, because it may no longer be right.
func (p *pacer) ease(dt time.Duration) float64 {
	p.held *= math.Exp2(dt.Seconds() / easesIn.Seconds())
	if p.held > mostHeld {
		p.held = 0
	}
	return p.held
}

// paceOf returns the pace of a rate. A rate that is not finite leaves the pace as it is.
func (p *pacer) paceOf(rate float64) Pace {
	if math.IsNaN(rate) || math.IsInf(rate, 0) {
		return p.pace
	}
	return Pace{Rate: rate, Burst: rate * p.tick.Seconds()}
}

// enough is the least number of latencies for a quantile. At a slow pace there are fewer, and their
// mean counts instead.
const enough = 10

// latencyLoad returns the latency as a reading whose limit is its target.
func latencyLoad(target time.Duration, snap weir.Snapshot) load.Reading {
	r := load.Reading{Name: "p95 latency", Unit: load.Seconds, Limit: target.Seconds()}
	if target == 0 {
		r.Err = load.ErrUnavailable
		return r
	}
	r.Value = snap.Mean.Seconds()
	if snap.Samples >= enough {
		r.Value = snap.P95.Seconds()
	}
	r.Value = max(r.Value, snap.Age.Seconds()/2) // in a stall nothing completes
	return r
}

// A notice holds the last report about the signals.
type notice struct {
	degraded bool
	since    time.Time // since when the signals were first missing, zero before
}

// firstAnswer is the time that a source has for its first answer, before its missing signals are
// reported: twice the default timeout of a poll.
const firstAnswer = 2 * time.Second

// notify reports that the side lost or regained its signals.
func (p *pacer) notify(now time.Time) {
	if p.seen.Degraded == p.notice.degraded {
		return
	}
	if p.notice.since.IsZero() {
		p.notice.since = now
	}
	if !p.seen.Degraded {
		p.report(now, Restored, nil)
	} else {
		starts := slices.ContainsFunc(p.feeds, func(f load.FeedSnapshot) bool { return f.Polls == 0 })
		if starts && now.Sub(p.notice.since) < firstAnswer {
			return
		}
		p.report(now, Degraded, lost(p.feeds))
	}
	p.notice.degraded = p.seen.Degraded
}

// lost returns the error of the first feed that is lost, nil if there is none.
func lost(feeds load.Feeds) error {
	for _, f := range feeds {
		if f.Err != nil && !f.Missing {
			return f.Err
		}
	}
	return nil
}

// A Pace bounds the rate at which operations start. The zero Pace bounds nothing.
type Pace struct {
	// Rate is the cost that may start per second. 0 is no bound.
	Rate float64
	// Burst is the cost that may start at once after a pause. An operation that costs more starts
	// as well, and the next operation waits longer.
	Burst float64
}

type emergency struct {
	enter float64 // the load at which it begins
	on    bool
	since time.Time // when it began or, when it is off, when it last ended by its time limit, zero if by the load
	rate  float64   // the pace while it is on
	count uint64
}

const (
	leave     = 0.9 // of the load at which it begins: there it ends
	longest   = 10 * time.Second
	leftOver  = 0.25 // of the flow
	leastRate = 1    // the slowest pace of an emergency, so that some operations always start
)

// judge begins or ends the emergency. It uses the monitor alone: missing signals are no emergency,
// and symptoms have a law of their own. It returns the kind of the event, 0 for none.
func (e *emergency) judge(l load.Level, flow float64, now time.Time) Kind {
	overdue := now.Sub(e.since) >= longest
	switch {
	case e.on && (overdue || !l.Valid || l.Load < leave*e.enter):
		e.on = false
		if overdue {
			e.since = now // it did not help: the next emergency waits for as long
		} else {
			e.since = time.Time{}
		}
		return EmergencyEnded
	case !e.on && overdue && l.Valid && l.Load >= e.enter:
		e.on, e.since, e.rate = true, now, max(leftOver*flow, leastRate)
		e.count++
		return EmergencyBegan
	}
	return 0
}

// bound returns the rate that the emergency asks for, 0 if there is no emergency.
func (e *emergency) bound() float64 {
	if !e.on {
		return 0
	}
	return e.rate
}
