package peers

import (
	"container/heap"
	"math"
	"time"

	"github.com/weir-go/weir/sim"
)

// A loop simulates one system under foreign limiters, as sim does under its own; the names
// of its steps are those of sim's engine.
type loop struct {
	scenario sim.Scenario // complete
	requests []request    // those that are still to come
	gates    []gate
	station  sim.Station
	cpu      *processor
	sleep    func(time.Duration)

	now, end time.Duration
	faults   faults
	events   events
	attempts []*attempt // by job
	free     []sim.Job
	budgets  []float64
	retries  *stream
	record   *result
}

// An attempt is one try of a request.
type attempt struct {
	request
	job    sim.Job // while it is admitted
	began  time.Duration
	number int
	failed bool // the server will fail it
	runs   bool // on the server
	over   bool // admitted no longer
	gone   bool // its client gave up and tries again meanwhile
	done   func(cancelled bool)
}

// run lets the gates control the system. The sleep function moves the clock that the gates
// read, nil if they read none.
func run(s sim.Scenario, requests []request, seed uint64, newGate func(sim.Limiter, *processor) gate, sleep func(time.Duration)) (*result, error) {
	s = complete(s)
	l := &loop{
		scenario: s, requests: requests, sleep: sleep, cpu: newProcessor(s.Server),
		faults: faults{phases: s.Phases, phase: -1}, budgets: make([]float64, len(s.Clients)),
		retries: newStream(seed, retryStream),
	}
	for _, p := range s.Phases {
		l.end += p.Length
	}
	for range s.Limiters {
		l.gates = append(l.gates, newGate(s.Limiter, l.cpu))
	}
	l.record = newResult(s, l.gates)
	var err error
	if l.station, err = s.Server.Station(); err != nil {
		return nil, err
	}
	for {
		fault, done, event, arrival := l.faults.next, l.station.Next(), l.events.next(), sim.Never
		if len(l.requests) > 0 {
			arrival = l.requests[0].at
		}
		at := min(fault, done, event, arrival)
		if at >= l.end {
			break
		}
		l.wait(at)
		switch at {
		case fault:
			if l.faults.advance(at) {
				l.record.begin(l.faults.phase, at)
			}
			l.station.Change(at, l.faults.conditions())
		case done:
			l.worked(l.attempts[l.station.Finish(at)])
		case event:
			l.events.pop().happen()
		default:
			l.arrive(l.requests[0])
			l.requests = l.requests[1:]
		}
	}
	l.wait(l.end)
	l.record.book(l.end)
	return l.record, nil
}

func (l *loop) wait(at time.Duration) {
	if l.sleep != nil && at > l.now {
		l.sleep(at - l.now)
	}
	l.now = at
	l.cpu.until(at)
	l.record.until(at)
}

func (l *loop) phase() *sim.Phase { return &l.scenario.Phases[l.faults.phase] }

func (l *loop) client(a *attempt) *sim.Client { return &l.scenario.Clients[a.client] }

func (l *loop) arrive(r request) {
	if b := l.scenario.Clients[r.client].Retry.Budget; b > 0 {
		l.budgets[r.client] = min(l.budgets[r.client]+b, 10)
	}
	l.attempt(&attempt{request: r})
}

func (l *loop) attempt(a *attempt) {
	a.began = l.now
	l.record.attempts++
	done, admitted := l.gates[a.limiter].acquire()
	l.record.limited(l.now, l.gates)
	if !admitted {
		l.record.refused()
		l.failed(a)
		return
	}
	a.done, a.failed = done, a.fails
	work := a.work
	if a.failed {
		work = l.phase().ErrorTime
	}
	if c := l.client(a); c.Cancel || c.Retry.Times > 0 {
		l.later(a.began+c.SLO+1, func() { l.giveUp(a) })
	}
	if last := len(l.free) - 1; last >= 0 {
		a.job, l.free = l.free[last], l.free[:last]
		l.attempts[a.job] = a
	} else {
		a.job = sim.Job(len(l.attempts))
		l.attempts = append(l.attempts, a)
	}
	a.runs = true
	l.cpu.jobs++
	l.station.Start(l.now, a.job, work)
}

func (l *loop) worked(a *attempt) {
	l.off(a)
	if delay := l.phase().Delay; delay > 0 {
		l.later(l.now+delay, func() { l.answered(a) })
		return
	}
	l.answered(a)
}

// off is for an attempt that leaves the server.
func (l *loop) off(a *attempt) {
	a.runs = false
	l.cpu.jobs--
	l.attempts[a.job] = nil
	l.free = append(l.free, a.job)
}

func (l *loop) answered(a *attempt) {
	if a.over {
		return
	}
	l.over(a, false)
	latency := l.now - a.began
	late := latency > l.client(a).SLO
	l.record.answered(latency, a.failed, late)
	if (a.failed || late) && !a.gone {
		l.failed(a)
	}
}

func (l *loop) over(a *attempt, cancelled bool) {
	a.over = true
	a.done(cancelled)
	l.record.limited(l.now, l.gates)
}

func (l *loop) giveUp(a *attempt) {
	if a.over {
		return
	}
	if l.client(a).Cancel {
		if a.runs {
			l.station.Abandon(l.now, a.job)
			l.off(a)
		}
		l.record.cancelled()
		l.over(a, true)
		l.failed(a)
		return
	}
	a.gone = true
	l.failed(a)
}

// failed ends an attempt without success: perhaps it is tried again.
func (l *loop) failed(a *attempt) {
	policy := &l.client(a).Retry
	allowed := a.number < policy.Times
	if allowed && policy.Budget > 0 {
		if allowed = l.budgets[a.client] >= 1; allowed {
			l.budgets[a.client]--
		}
	}
	if !allowed {
		return
	}
	pause := float64(policy.Backoff) * math.Ldexp(1, a.number) * (0.5 + l.retries.float())
	if policy.Heed {
		l.retries.float() // peers do not say when to come back
	}
	luck := l.retries.float()
	again := &attempt{request: a.request, number: a.number + 1}
	l.later(l.now+time.Duration(max(pause, 1)), func() {
		again.fails = luck < l.phase().Errors
		l.attempt(again)
	})
}

// An event is what happens later.
type event struct {
	at     time.Duration
	order  int // among events of one instant
	happen func()
}

type events struct {
	list  []event
	count int
}

func (q *events) Len() int { return len(q.list) }
func (q *events) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}
func (q *events) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *events) Push(e any)    { q.list = append(q.list, e.(event)) }
func (q *events) Pop() any {
	last := len(q.list) - 1
	e := q.list[last]
	q.list = q.list[:last]
	return e
}

func (q *events) pop() event { return heap.Pop(q).(event) }

func (q *events) next() time.Duration {
	if len(q.list) == 0 {
		return sim.Never
	}
	return q.list[0].at
}

func (l *loop) later(at time.Duration, happen func()) {
	l.events.count++
	heap.Push(&l.events, event{at, l.events.count, happen})
}
