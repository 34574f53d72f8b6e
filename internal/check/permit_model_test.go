package check

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// A permitModel is an observer of the tickets of a node, which may be in shadow mode: it knows
// which are outstanding, their weights, which were measured, and the would-be refusals. Returned
// tickets stay, to be tried again.
type permitModel struct {
	*rapid.T
	node      *admit.Node
	group     *admit.Group
	cap       int // of the group, or no bound
	settings  admit.Settings
	tight     bool // the limit cannot move
	alone     bool // only the limit refuses, and the node is in shadow mode from start to end
	now       int64
	tickets   []*modelPermit
	measured  map[window.Outcome]uint64
	admitted  uint64
	completed uint64
	would     uint64
}

type modelPermit struct {
	reply.Ticket
	start         int64
	weight        int
	out, measured bool
}

const (
	permitLimit = 5
	permitMost  = 1000 // higher than any held weight
)

func (m *permitModel) Controller(law.Bounds) (law.Controller, error) { return m, nil }

func (m *permitModel) Next(w law.Window) law.Decision {
	running, _ := m.running()
	want := w.Max // if it is tight, whatever is held
	if !m.tight {
		want = permitLimit
	}
	switch {
	case w.Last < 0 || w.InFlight < 0 || m.alone && (w.Last > w.Limit || w.Peak > w.Limit):
		m.Fatalf("the law is shown %+v", w)
	case m.node != nil && !m.settings.Shadow && (w.Limit != want || w.Last > running):
		m.Fatalf("the law is shown %+v while %d run that were not measured: want limit %d", w, running, want)
	}
	return law.Decision{Limit: float64(w.Limit)}
}

// limit is the limit of a live node while measured work holds slots.
func (m *permitModel) limit(held int) int {
	return min(m.settings.Bounds.Initial+held, m.settings.Bounds.Max)
}

// running returns the weight of the work in flight, and of its measured part.
func (m *permitModel) running() (unmeasured, held int) {
	for _, p := range m.tickets {
		switch {
		case p.out && p.measured:
			held += p.weight
		case p.out:
			unmeasured += p.weight
		}
	}
	return unmeasured, held
}

// In any order of measuring, reweighing and returning work, through any copy: it is recorded
// once and returned once, all counts add up, and nothing remains when nothing runs. In shadow
// mode all work runs, would-be refusals are counted and reported once, and virtual work stays
// within the limit.
func TestPermitsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &permitModel{T: t, measured: map[window.Outcome]uint64{}, cap: permitMost}
		m.alone = oneIn(t, 4, "alone")
		m.tight = m.alone || rapid.Bool().Draw(t, "tight")
		m.settings = m.draw()
		if !m.alone && rapid.Bool().Draw(t, "in a group") {
			m.cap = rapid.SampledFrom([]int{3, permitMost}).Draw(t, "cap")
			m.group = admit.NewGroup(m.cap)
		}
		node, err := admit.New(m.settings, m, m.group, 0)
		if err != nil {
			t.Fatal(err)
		}
		m.node = node
		on := func(step func()) func(*rapid.T) { return func(t *rapid.T) { m.T = t; step() } }
		t.Repeat(map[string]func(*rapid.T){
			"":        on(m.check),
			"acquire": on(m.acquire),
			"more":    on(m.acquire),
			"measure": on(m.measure),
			"reweigh": on(m.reweigh),
			"done":    on(m.done),
			"pass":    on(m.pass),
			"change":  on(m.change),
		})
		m.drain()
	})
}

// draw returns settings. The limit cannot move if it is tight.
func (m *permitModel) draw() admit.Settings {
	s := admit.Settings{
		Bounds:   law.Bounds{Min: 1, Max: permitMost, Initial: permitLimit},
		Interval: rapid.SampledFrom([]time.Duration{1, time.Second}).Draw(m.T, "interval"),
		Lookback: time.Second, MinSamples: 1, Observed: true, QueueTimeout: time.Second,
		Shadow: m.alone || rapid.Bool().Draw(m.T, "shadow"),
	}
	if m.tight {
		limit := rapid.IntRange(1, permitLimit).Draw(m.T, "limit")
		s.Bounds = law.Bounds{Min: limit, Max: limit, Initial: limit}
	}
	if !m.alone {
		s.QueueSize = rapid.IntRange(0, 3).Draw(m.T, "queue")
		s.Order = anyOrder.Draw(m.T, "order")
		s.Tenants = rapid.SampledFrom([]int{0, 2}).Draw(m.T, "tenants")
	}
	return s
}

// call makes a call and counts its would-be refusals.
func (m *permitModel) call(do func(fx *admit.Effects)) admit.Effects {
	var fx admit.Effects
	do(&fx)
	fx.Woken.Wake()
	unnumbered := func(l admit.Lapse) bool { return l.Seq == 0 || !l.Why.Refused() }
	refused := len(fx.Lapsed) > 0 || fx.WouldRefuse != reply.Admitted
	if slices.ContainsFunc(fx.Lapsed, unnumbered) || refused && !fx.Notable {
		m.Fatalf("no caller will hear of %+v", fx)
	}
	m.would += uint64(len(fx.Lapsed))
	if fx.WouldRefuse != reply.Admitted {
		m.would++
	}
	return fx
}

func (m *permitModel) acquire() {
	weight := rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(m.T, "weight")
	p := &modelPermit{weight: weight, start: m.now}
	work := admit.Work{
		Tenant: uint16(rapid.IntRange(1, 2).Draw(m.T, "tenant")), Weight: weight,
		NoWait: rapid.Bool().Draw(m.T, "no wait"),
	}
	var verdict reply.Verdict
	fx := m.call(func(fx *admit.Effects) { verdict = m.node.Acquire(&p.Ticket, work, m.now, fx) })
	unmeasured, held := m.running()
	switch would := fx.WouldRefuse; {
	case m.settings.Shadow && verdict != reply.Admitted:
		m.Fatalf("in shadow mode: %v", verdict)
	case !m.settings.Shadow && would != reply.Admitted:
		m.Fatalf("would be %v, without shadow mode", would)
	case !m.settings.Shadow && verdict == reply.Admitted && unmeasured+weight > m.settings.Bounds.Initial:
		m.Fatalf("admitted %d besides %d", weight, unmeasured)
	case m.alone && (would == reply.QueueFull || would == reply.LimitReached) && unmeasured+held+weight <= m.settings.Bounds.Max:
		m.Fatalf("would be refused with %d in flight", unmeasured+held)
	case would == reply.TooHeavy && weight <= m.whole():
		m.Fatalf("weight %d would be too heavy", weight)
	}
	if verdict == reply.Admitted {
		p.out = true
		m.admitted++
		m.tickets = append(m.tickets, p)
	}
}

// whole is the weight that has room when nothing runs.
func (m *permitModel) whole() int { return min(m.settings.Bounds.Initial, m.cap) }

// ticket returns an outstanding or returned ticket, nil if there is none.
func (m *permitModel) ticket() *modelPermit {
	if len(m.tickets) == 0 {
		return nil
	}
	return m.tickets[rapid.IntRange(max(0, len(m.tickets)-8), len(m.tickets)-1).Draw(m.T, "ticket")]
}

var anyOutcome = rapid.SampledFrom([]window.Outcome{window.Success, window.Failure, window.Timeout, window.Ignore})

func (m *permitModel) measure() {
	p := m.ticket()
	if p == nil {
		return
	}
	outcome := anyOutcome.Draw(m.T, "outcome")
	fx := m.call(func(fx *admit.Effects) { m.node.Measure(p.Ticket, m.now, outcome, fx) })
	m.heard(p, fx, outcome)
}

// heard records an outcome that a call should report, unless it was reported before.
func (m *permitModel) heard(p *modelPermit, fx admit.Effects, outcome window.Outcome) {
	if want := p.out && !p.measured; fx.Heard != want {
		m.Fatalf("heard %v: want %v of %+v", fx.Heard, want, p)
	}
	if fx.Heard {
		p.measured = true
		m.measured[outcome]++
	}
}

func (m *permitModel) reweigh() {
	p := m.ticket()
	if p == nil || m.alone { // more weight may go above the limit
		return
	}
	weight := rapid.IntRange(1, 4).Draw(m.T, "weight")
	m.call(func(fx *admit.Effects) { m.node.SetWeight(p.Ticket, weight, m.now, fx) })
	if p.out {
		p.weight = weight
	}
}

func (m *permitModel) done() {
	if p := m.ticket(); p != nil {
		m.end(p, anyOutcome.Draw(m.T, "outcome"))
	}
}

func (m *permitModel) end(p *modelPermit, outcome window.Outcome) {
	var back bool
	fx := m.call(func(fx *admit.Effects) { back = m.node.Done(p.Ticket, m.now, outcome, fx) })
	if back != p.out {
		m.Fatalf("taken back %v: want %v of %+v", back, p.out, p)
	}
	m.heard(p, fx, outcome)
	if p.out {
		p.out = false
		m.completed++
	}
}

func (m *permitModel) pass() {
	m.now += int64(rapid.SampledFrom([]time.Duration{1, time.Millisecond, 100 * time.Millisecond, 2 * time.Second}).Draw(m.T, "time"))
}

// change gives the node other settings, with or without shadow mode, or another pace.
func (m *permitModel) change() {
	switch {
	case m.alone:
	case rapid.Bool().Draw(m.T, "pace"):
		pace := admit.Pace{
			Rate:  rapid.SampledFrom([]float64{0, 0, 1, 100}).Draw(m.T, "rate"),
			Burst: float64(rapid.IntRange(0, 3).Draw(m.T, "burst")),
		}
		m.call(func(fx *admit.Effects) { m.node.SetPace(pace, m.now, fx) })
	default:
		next := m.draw()
		m.call(func(fx *admit.Effects) {
			if err := m.node.Update(next, m, m.now, fx); err != nil {
				m.Fatal(err)
			}
		})
		m.settings = next
	}
}

func (m *permitModel) check() {
	s := m.node.State(m.now)
	unmeasured, held := m.running()
	if s.InFlight != unmeasured+held || s.Admitted != m.admitted || s.Completed != m.completed {
		m.Fatalf("%d in flight, %d admitted, %d completed: want %d, %d and %d",
			s.InFlight, s.Admitted, s.Completed, unmeasured+held, m.admitted, m.completed)
	}
	if s.WouldRefuse != m.would || s.Queued != 0 {
		m.Fatalf("%d refused but for shadow mode and %d queued: want %d and 0", s.WouldRefuse, s.Queued, m.would)
	}
	if s.Failed != m.measured[window.Failure] || s.TimedOut != m.measured[window.Timeout] ||
		s.Ignored != m.measured[window.Ignore] {
		m.Fatalf("outcomes %+v: want %v", s, m.measured)
	}
	if !m.settings.Shadow && s.Limit != m.limit(held) {
		m.Fatalf("limit %d with %d held", s.Limit, held)
	}
	if m.group != nil && m.group.State().InFlight != unmeasured+held {
		m.Fatalf("the group has %d in flight: want %d", m.group.State().InFlight, unmeasured+held)
	}
	m.checkAge(s.Age)
}

// checkAge compares the age with the oldest unmeasured work.
func (m *permitModel) checkAge(age time.Duration) {
	oldest := int64(0)
	for _, p := range m.tickets {
		if p.out && !p.measured {
			oldest = max(oldest, m.now-p.start)
		}
	}
	if unmeasured, _ := m.running(); unmeasured == 0 && age != 0 || int64(age) < oldest {
		m.Fatalf("age %v: the oldest work is %v old", age, time.Duration(oldest))
	}
}

// drain ends all work, after which the whole limit is free in either mode.
func (m *permitModel) drain() {
	for _, p := range m.tickets {
		if p.out {
			m.end(p, window.Success)
		}
	}
	m.now += int64(time.Hour)
	m.call(func(fx *admit.Effects) { m.node.SetPace(admit.Pace{}, m.now, fx) })
	m.check()
	var ticket reply.Ticket
	fx := m.call(func(fx *admit.Effects) {
		if v := m.node.Acquire(&ticket, admit.Work{Tenant: 1, Weight: m.whole()}, m.now, fx); v != reply.Admitted {
			m.Fatalf("%v with nothing in flight", v)
		}
	})
	if fx.WouldRefuse != reply.Admitted {
		m.Fatalf("would be %v with nothing in flight", fx.WouldRefuse)
	}
	if m.group != nil && m.group.State().Lent != m.whole() {
		m.Fatalf("the group has %+v", m.group.State())
	}
	if m.whole() == 1 || m.settings.QueueSize == 0 {
		return
	}
	w := &queue.Waiter{Owner: unheard{}, Weight: 1, Tenant: 1}
	var verdict reply.Verdict
	m.call(func(fx *admit.Effects) { verdict = m.node.Join(w, m.now, fx) })
	m.call(func(fx *admit.Effects) { m.node.SetWeight(ticket, m.whole()-1, m.now, fx) })
	if verdict != reply.Admitted && w.Verdict != reply.Admitted {
		m.Fatalf("a waiter was left with %v and %v", verdict, w.Verdict)
	}
}

type unheard struct{}

func (unheard) Wake()    {}
func (unheard) Recheck() {}
