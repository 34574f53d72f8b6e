package check

import (
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// A permitModel is an observer of the tickets of a node: it knows which are outstanding,
// their weights, and which were measured. Returned tickets stay, to be tried again.
type permitModel struct {
	*rapid.T
	node      *admit.Node
	group     *admit.Group
	settings  admit.Settings
	now       int64
	tickets   []*modelPermit
	measured  map[window.Outcome]uint64
	admitted  uint64
	completed uint64
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
	if m.node != nil && !m.settings.Shadow && (w.Limit != permitLimit || w.Last > running) {
		m.Fatalf("the law is shown %+v while %d run that were not measured", w, running)
	}
	return law.Decision{Limit: float64(w.Limit)}
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
// once and returned once, all counts add up, and nothing remains when nothing runs.
func TestPermitsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &permitModel{T: t, measured: map[window.Outcome]uint64{}}
		m.settings = admit.Settings{
			Bounds:   law.Bounds{Min: 1, Max: permitMost, Initial: permitLimit},
			Interval: time.Second, Lookback: time.Second, MinSamples: 1, Lanes: lanes, QueueSize: 3,
			QueueTimeout: time.Second,
			Tenants:      rapid.SampledFrom([]int{0, 2}).Draw(t, "tenants"), Shadow: rapid.Bool().Draw(t, "shadow"),
		}
		if rapid.Bool().Draw(t, "in a group") {
			m.group = admit.NewGroup(permitMost)
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
			"pass":    on(func() { m.now += rapid.Int64Range(1, int64(3*time.Second)).Draw(m.T, "time") }),
			"mode":    on(m.mode),
			"pace":    on(m.pace),
		})
		m.drain()
	})
}

func (m *permitModel) call(do func(fx *admit.Effects)) admit.Effects {
	var fx admit.Effects
	do(&fx)
	fx.Woken.Wake()
	return fx
}

func (m *permitModel) acquire() {
	p := &modelPermit{weight: rapid.IntRange(1, 3).Draw(m.T, "weight"), start: m.now}
	tenant := uint16(rapid.IntRange(1, 2).Draw(m.T, "tenant"))
	var verdict reply.Verdict
	m.call(func(fx *admit.Effects) {
		verdict = m.node.Acquire(&p.Ticket, admit.Work{Tenant: tenant, Weight: p.weight, NoWait: true}, m.now, fx)
	})
	if unmeasured, _ := m.running(); !m.settings.Shadow && verdict == reply.Admitted &&
		unmeasured+p.weight > permitLimit {
		m.Fatalf("admitted %d besides %d", p.weight, unmeasured)
	}
	if verdict == reply.Admitted {
		p.out = true
		m.admitted++
		m.tickets = append(m.tickets, p)
	}
}

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
	if p == nil {
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

// mode starts or ends shadow mode.
func (m *permitModel) mode() {
	m.settings.Shadow = !m.settings.Shadow
	m.call(func(fx *admit.Effects) {
		if err := m.node.Update(m.settings, m, m.now, fx); err != nil {
			m.Fatal(err)
		}
	})
}

func (m *permitModel) pace() {
	rate := rapid.SampledFrom([]float64{0, 0, 1, 100}).Draw(m.T, "rate")
	m.call(func(fx *admit.Effects) { m.node.SetPace(admit.Pace{Rate: rate, Burst: 3}, m.now, fx) })
}

func (m *permitModel) check() {
	s := m.node.State(m.now)
	unmeasured, held := m.running()
	if s.InFlight != unmeasured+held || s.Admitted != m.admitted || s.Completed != m.completed {
		m.Fatalf("%d in flight, %d admitted, %d completed: want %d, %d and %d",
			s.InFlight, s.Admitted, s.Completed, unmeasured+held, m.admitted, m.completed)
	}
	if s.Failed != m.measured[window.Failure] || s.TimedOut != m.measured[window.Timeout] ||
		s.Ignored != m.measured[window.Ignore] {
		m.Fatalf("outcomes %+v: want %v", s, m.measured)
	}
	if !m.settings.Shadow && s.Limit != permitLimit+held {
		m.Fatalf("limit %d with %d held", s.Limit, held)
	}
	if m.group != nil && m.group.InFlight() != unmeasured+held {
		m.Fatalf("the group has %d in flight: want %d", m.group.InFlight(), unmeasured+held)
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
		if v := m.node.Acquire(&ticket, admit.Work{Tenant: 1, Weight: permitLimit}, m.now, fx); v != reply.Admitted {
			m.Fatalf("%v with nothing in flight", v)
		}
	})
	if fx.WouldRefuse != reply.Admitted {
		m.Fatalf("would be %v with nothing in flight", fx.WouldRefuse)
	}
	if m.group != nil && m.group.State().Lent != permitLimit {
		m.Fatalf("the group has %+v", m.group.State())
	}
	w := &queue.Waiter{Owner: unheard{}, Weight: 1, Tenant: 1}
	var verdict reply.Verdict
	m.call(func(fx *admit.Effects) { verdict = m.node.Join(w, m.now, fx) })
	m.call(func(fx *admit.Effects) { m.node.SetWeight(ticket, permitLimit-1, m.now, fx) })
	if got, _ := w.Answer(); verdict != reply.Admitted && got != reply.Admitted {
		m.Fatalf("a waiter was left with %v and %v", verdict, got)
	}
}

type unheard struct{}

func (unheard) Wake()    {}
func (unheard) Recheck() {}
