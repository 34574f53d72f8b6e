package check

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// A shadowModel is an observer of a node that may be in shadow mode: it knows the running
// work, and the would-be refusals.
type shadowModel struct {
	*rapid.T
	node     *admit.Node
	settings admit.Settings
	alone    bool // only the limit refuses, and the node was in shadow mode from the start
	now      int64
	out      []*modelTicket
	running  int
	would    uint64
	last     law.Window
}

// Controller and Next record the limit, and the windows of the law.
func (m *shadowModel) Controller(law.Bounds) (law.Controller, error) { return m, nil }

func (m *shadowModel) Next(w law.Window) law.Decision {
	m.last = w
	return law.Decision{Limit: float64(w.Limit)}
}

// For any requests to a node in shadow mode: all of them run, would-be refusals are counted
// and reported once, virtual work stays within the limit, and none of it remains when
// nothing runs.
func TestShadowAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &shadowModel{T: t, alone: rapid.Bool().Draw(t, "alone")}
		m.settings = m.draw()
		m.settings.Shadow = true
		var group *admit.Group
		if !m.alone && rapid.Bool().Draw(t, "in a group") {
			group = admit.NewGroup(3)
		}
		node, err := admit.New(m.settings, m, group, 0)
		if err != nil {
			t.Fatal(err)
		}
		m.node = node
		t.Repeat(map[string]func(*rapid.T){
			"":        func(t *rapid.T) { m.T = t; m.check() },
			"acquire": func(*rapid.T) { m.acquire() },
			"more":    func(*rapid.T) { m.acquire() },
			"done":    func(*rapid.T) { m.done() },
			"ended":   func(*rapid.T) { m.done() },
			"pass":    func(*rapid.T) { m.pass() },
			"change":  func(*rapid.T) { m.change() },
		})
		m.drain(group)
	})
}

func (m *shadowModel) draw() admit.Settings {
	limit := rapid.IntRange(1, 5).Draw(m.T, "limit")
	s := admit.Settings{
		Bounds:   law.Bounds{Min: limit, Max: limit, Initial: limit},
		Interval: 1, Lookback: time.Second, MinSamples: 1, Lanes: lanes, Observed: true, QueueTimeout: time.Second,
	}
	if !m.alone {
		s.QueueSize = rapid.IntRange(0, 3).Draw(m.T, "queue")
		s.Order = anyOrder.Draw(m.T, "order")
	}
	return s
}

// call counts the would-be refusals of a call.
func (m *shadowModel) call(do func(fx *admit.Effects)) admit.Effects {
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

func (m *shadowModel) acquire() {
	weight := rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(m.T, "weight")
	ticket := &modelTicket{weight: weight}
	var verdict reply.Verdict
	fx := m.call(func(fx *admit.Effects) {
		verdict = m.node.Acquire(&ticket.Ticket, admit.Work{Weight: weight}, m.now, fx)
	})
	switch {
	case m.settings.Shadow && verdict != reply.Admitted:
		m.Fatalf("in shadow mode: %v", verdict)
	case !m.settings.Shadow && fx.WouldRefuse != reply.Admitted:
		m.Fatalf("would be %v, without shadow mode", fx.WouldRefuse)
	case m.alone && (fx.WouldRefuse == reply.QueueFull || fx.WouldRefuse == reply.LimitReached) &&
		m.running+weight <= m.settings.Bounds.Max:
		m.Fatalf("would be refused with %d in flight", m.running)
	case fx.WouldRefuse == reply.TooHeavy && weight <= min(m.settings.Bounds.Max, 3):
		m.Fatalf("weight %d would be too heavy", weight)
	}
	if verdict == reply.Admitted {
		m.out = append(m.out, ticket)
		m.running += weight
	}
}

func (m *shadowModel) done() {
	if len(m.out) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.out)-1).Draw(m.T, "ticket")
	outcome := rapid.SampledFrom([]window.Outcome{
		window.Success, window.Success, window.Failure, window.Timeout, window.Ignore,
	}).Draw(m.T, "outcome")
	m.end(i, outcome)
}

func (m *shadowModel) end(i int, outcome window.Outcome) {
	ticket := m.out[i]
	m.out = append(m.out[:i:i], m.out[i+1:]...)
	m.running -= ticket.weight
	m.call(func(fx *admit.Effects) {
		if !m.node.Done(ticket.Ticket, m.now, outcome, fx) {
			m.Fatalf("a ticket that was out was not taken back")
		}
	})
}

func (m *shadowModel) pass() {
	m.now += int64(rapid.SampledFrom([]time.Duration{
		1, time.Millisecond, 100 * time.Millisecond, 2 * time.Second,
	}).Draw(m.T, "time"))
}

// change gives the node other settings, with or without shadow mode, or another pace.
func (m *shadowModel) change() {
	if m.alone {
		return
	}
	if rapid.Bool().Draw(m.T, "pace") {
		m.call(func(fx *admit.Effects) {
			m.node.SetPace(admit.Pace{
				Rate:  rapid.SampledFrom([]float64{0, 1, 100}).Draw(m.T, "rate"),
				Burst: float64(rapid.IntRange(0, 2).Draw(m.T, "burst")),
			}, m.now, fx)
		})
		return
	}
	next := m.draw()
	next.Shadow = !oneIn(m.T, 4, "live")
	m.call(func(fx *admit.Effects) {
		if err := m.node.Update(next, m, m.now, fx); err != nil {
			m.Fatal(err)
		}
	})
	m.settings = next
}

func (m *shadowModel) check() {
	s := m.node.State(m.now)
	if s.InFlight != m.running || s.WouldRefuse != m.would || s.Queued != 0 {
		m.Fatalf("%d in flight, %d queued and %d refused but for shadow mode, want %d, 0 and %d",
			s.InFlight, s.Queued, s.WouldRefuse, m.running, m.would)
	}
	if w := m.last; w.Last < 0 || w.InFlight < 0 || m.alone && (w.Last > w.Limit || w.Peak > w.Limit) {
		m.Fatalf("the law sees %+v", w)
	}
}

// drain ends all work and waits, after which the whole limit is free.
func (m *shadowModel) drain(group *admit.Group) {
	for len(m.out) > 0 {
		m.end(0, window.Success)
	}
	m.now += int64(time.Hour)
	m.call(func(fx *admit.Effects) { m.node.SetPace(admit.Pace{}, m.now, fx) })
	m.check()
	if group != nil && (group.InFlight() != 0 || group.State().Lent != 0) {
		m.Fatalf("the group has %+v", group.State())
	}
	var ticket reply.Ticket
	fx := m.call(func(fx *admit.Effects) {
		m.node.Acquire(&ticket, admit.Work{Weight: min(m.settings.Bounds.Max, 3)}, m.now, fx)
	})
	if fx.WouldRefuse != reply.Admitted {
		m.Fatalf("%v with nothing in flight", fx.WouldRefuse)
	}
}
