package throttle

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
)

// A side is one kind of operations: its actuators and its state.
type side struct {
	op      Op
	scope   load.Scope
	conf    Side
	limiter *weir.Limiter

	extra        atomic.Uint64 // cost admitted beyond 1 for each operation
	throttled    atomic.Uint64 // operations that had to wait
	throttleTime atomic.Int64  // how long they did

	comeback comeback

	// The rest belongs to the throttle's lock.
	laws      []controller
	bounds    bool // one of them is a Concurrency
	drains    bool // one of them is a DrainRate
	fallback  *pidLaw
	held      held
	symptoms  load.Symptoms
	emergency emergency

	total    uint64     // cost admitted up to the last decision
	flow     float64    // cost per second, smoothed
	level    load.Level // of all readings
	paced    load.Level // of the readings behind the laws of pace
	alarm    load.Level // of the readings behind the emergency
	symptom  load.Reading
	latency  load.Reading
	load     float64 // the input of the laws
	demand   demand
	degraded bool
	reported bool      // the content of the last event about it
	untold   time.Time // since when it is otherwise
}

// The limiter behind a side queues, refuses and measures. It caps nothing but with a Concurrency.
// Its latencies are then those of the law's window, and else of the last two seconds, because the
// laws go by them.
const measured = 2 * time.Second

func (s *side) init(op Op, conf Side, c Config) (err error) {
	s.op, s.conf, s.scope = op, conf, load.Reads
	field := "Reads"
	if op == Write {
		s.scope, field = load.Writes, "Writes"
	}
	s.emergency.Emergency = c.Emergency
	for i, l := range conf.Laws {
		if err := s.add(l, fmt.Sprintf("%s.Laws[%d]", field, i), c.Monitor); err != nil {
			return err
		}
	}
	fallback, err := conf.fallback(op).start(field)
	if err != nil {
		return err
	}
	s.fallback = fallback.(*pidLaw)
	limit := weir.Config{
		Name: c.Name + " " + field,
		Min:  conf.MaxInFlight, Max: conf.MaxInFlight,
		Law:    law.Fixed{},
		Window: measured, Interval: measured,
		Queue: conf.Queue, Classify: c.Classify,
	}
	if s.bounds {
		limit.Min, limit.Law = 1, law.Setpoint{Budget: conf.LatencyTarget}
	}
	if s.limiter, err = weir.New(limit); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrConfig, field, err)
	}
	limiters.Node(s.limiter).RunAlone(conf.MaxInFlight)
	s.comeback.patience, s.comeback.longest = s.limiter.Config().Queue.Timeout, c.Emergency.Longest
	return nil
}

// add starts a law, which is at a field of the Config.
func (s *side) add(l LoadLaw, field string, m *load.Monitor) error {
	if l == nil {
		return invalid(field, l, "a law")
	}
	started, err := l.start(field)
	if err != nil {
		return err
	}
	switch l.(type) {
	case Concurrency:
		s.bounds = true
	case DrainRate:
		if m == nil || !m.TellsDrain() {
			return invalid(field, "DrainRate", "a Monitor with a source that tells a drain, a load.Drainer")
		}
		s.drains = true
	}
	s.laws = append(s.laws, started)
	return nil
}

// fallback is the law for when signals are missing.
func (s Side) fallback(op Op) PID {
	for _, l := range s.Laws {
		if p, ok := l.(PID); ok {
			return p
		}
	}
	if op == Read {
		return readPID
	}
	return writePID
}

// begin forgets the pace of an earlier Run.
func (s *side) begin() {
	s.measure(0)
	s.held, s.emergency.on = held{}, false
	s.resume(demand{}, s.flow)
}

// decide finds the next pace and applies it.
func (s *side) decide(t *Throttle, now time.Time, dt time.Duration) {
	cost := s.measure(dt)
	in := signals{dt: dt, cost: cost, flow: s.flow, now: s.demand}
	snap := s.look(t, &in)
	s.tell(t, now)

	var next demand
	if s.degraded {
		next = s.fallback.next(in).strictest(s.held.after(dt))
	} else {
		for _, l := range s.laws {
			next = next.strictest(l.next(in))
		}
	}
	began, ended := s.emergency.judge(s.alarm, s.flow, now)
	s.comeback.until.Store(s.emergency.until())
	switch {
	case began:
		t.note(Event{At: now, Op: s.op, Kind: EmergencyBegan, Level: s.level})
	case ended:
		t.note(Event{At: now, Op: s.op, Kind: EmergencyEnded, Level: s.level})
	}
	s.apply(next.strictest(s.emergency.demand()), t.conf.Tick)
	s.comeback.learn(snap, paceOf(s.limiter), max(1, float64(s.total)/float64(max(1, snap.Admitted))), now, dt)
}

// read returns the state of the limiter, and the cost admitted up to now, as corrected. Corrections
// are read first: one that takes cost away follows its admission, and without that the sum could be
// below 0.
func (s *side) read() (now weir.Snapshot, cost uint64) {
	corrected := uint64(limiters.Node(s.limiter).Corrected())
	extra := s.extra.Load()
	now = s.limiter.Snapshot()
	return now, now.Admitted + extra + corrected
}

// measure returns the cost admitted since the last decision.
func (s *side) measure(dt time.Duration) float64 {
	_, total := s.read()
	cost := float64(max(0, int64(total-s.total)))
	s.total = max(s.total, total) // an excess counts for the next amount
	if dt > 0 {
		s.flow += (cost/dt.Seconds() - s.flow) * share(dt, time.Second)
	}
	return cost
}

// look reads the monitor and the side's own operations.
func (s *side) look(t *Throttle, in *signals) (snap weir.Snapshot) {
	snap = s.limiter.Snapshot()
	s.symptom = s.symptoms.Update(load.Operations{Oldest: snap.Age, Latency: snap.Mean}, in.dt)
	s.latency = s.conf.latencyLoad(snap)
	in.load = s.latency.Load()
	degraded := false
	if m := t.conf.Monitor; m != nil {
		s.level = m.Level(s.scope)
		s.paced = s.level
		if s.bounds {
			s.paced = m.LevelBy(s.scope, load.ByPace)
		}
		s.alarm = m.LevelOf(s.scope, s.alarms)
		in.drain, _, in.fresh = m.Drain()
		degraded = s.level.Degraded
		in.load = max(in.load, s.paced.Load)
	}
	if degraded || t.conf.Monitor == nil {
		in.load = max(in.load, s.symptom.Load())
	}
	s.load = in.load
	if degraded == s.degraded {
		return snap
	}
	s.degraded = degraded
	from := in.now
	if degraded {
		s.held = held{rate: from.rate}
	} else {
		from.rate = s.held.rate // symptoms mean nothing now that the database answers
	}
	s.resume(from, in.flow)
	return snap
}

// alarms reports whether a feed can begin an emergency. Readings that a Concurrency brings down
// cannot, nor the inputs of a DrainRate: these laws handle them.
func (s *side) alarms(f load.FeedSnapshot) bool {
	concurrency, drain := s.bounds && f.Actuator == load.ByConcurrency, s.drains && f.Drains
	return !concurrency && !drain
}

// resume has the controllers that take over go on from the present pace.
func (s *side) resume(from demand, flow float64) {
	s.fallback.resume(from, flow)
	for _, l := range s.laws {
		l.resume(from, flow)
	}
}

// held is the pace at which the signals were lost. Symptoms may be fine while a backlog grows, so
// it bounds the pace until they are back, and eases, because it may no longer be right.
type held struct{ rate float64 }

// easesIn is the time in which a remembered bound doubles.
const easesIn = time.Minute

func (h *held) after(dt time.Duration) demand {
	h.rate *= math.Exp2(dt.Seconds() / easesIn.Seconds())
	if math.IsInf(h.rate, 1) {
		h.rate = 0
	}
	return demand{rate: h.rate}
}

// enough is how many latencies make a quantile. A slow pace leaves fewer, whose mean then counts.
const enough = 10

// latencyLoad is how close the latency is to its target.
func (s *Side) latencyLoad(snap weir.Snapshot) load.Reading {
	r := load.Reading{Name: "p95 latency", Unit: load.Seconds, Limit: s.LatencyTarget.Seconds()}
	if s.LatencyTarget == 0 {
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

// apply sets the pace.
func (s *side) apply(d demand, tick time.Duration) {
	if d == s.demand || math.IsNaN(d.rate) || math.IsInf(d.rate, 0) {
		return // as it was, also if numbers beyond all sense made for no answer
	}
	s.demand = d
	// The inflow between two decisions must not overflow.
	setPace(s.limiter, Pace{Rate: d.rate, Burst: min(d.rate*tick.Seconds(), math.MaxFloat64), Refuse: d.refuse})
}

// firstAnswer is how long a source may take to answer for the first time before that is reported:
// twice the default timeout of a poll.
const firstAnswer = 2 * time.Second

// tell publishes that the side lost or regained its signals.
func (s *side) tell(t *Throttle, now time.Time) {
	if t.conf.Monitor == nil || s.degraded == s.reported {
		s.untold = time.Time{}
		return
	}
	if s.untold.IsZero() {
		s.untold = now
	}
	e := Event{At: now, Op: s.op, Kind: Restored, Level: s.level}
	if s.degraded {
		feeds := t.conf.Monitor.Snapshot()
		if !t.conf.Monitor.Level(s.scope).Degraded { // a source answered since look
			return
		}
		starts := slices.ContainsFunc(feeds, func(f load.FeedSnapshot) bool { return f.Polls == 0 })
		if starts && now.Sub(s.untold) < firstAnswer {
			return
		}
		e.Kind, e.Err = Degraded, lost(feeds)
	}
	s.reported = s.degraded
	t.note(e)
}

// lost says why the first feed is lost that is.
func lost(feeds []load.FeedSnapshot) error {
	for _, f := range feeds {
		if f.Err != nil && !f.Missing {
			return f.Err
		}
	}
	return nil
}
