package admit_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
)

// A shop is a group of nodes that gets random calls: permits, updates and the cap.
type shop struct {
	t       *testing.T
	random  *rand.Rand
	group   *admit.Group
	rigs    []*rig
	running []piece
	back    []piece // tickets that were given back
	waiting []waiting
}

type piece struct {
	*rig
	ticket reply.Ticket
	weight int
}

type waiting struct {
	*rig
	*request
}

// Next is a law that moves the limit at random.
func (s *shop) Next(w law.Window) law.Decision {
	if w.Limit < w.Min || w.Limit > w.Max || w.InFlight < 0 || w.Last < 0 {
		s.t.Errorf("the law is shown %+v", w)
	}
	if w.Samples == 0 {
		return law.Decision{Limit: float64(w.Limit)}
	}
	return law.Decision{Limit: 1 + s.random.Float64()*10}
}

func (s *shop) Controller(law.Bounds) (law.Controller, error) { return s, nil }

func (s *shop) settings(node int, inShadow bool) admit.Settings {
	return settings(4, func(conf *admit.Settings) {
		conf.Bounds.Max = 9
		conf.Allocation = &admit.Allocation{Reserved: node, Share: float64(node + 1)}
		conf.Shadow = inShadow
	})
}

func newShop(t *testing.T, seed uint64) *shop {
	s := &shop{t: t, random: rand.New(rand.NewPCG(seed, 1)), group: admit.NewGroup(8)}
	for node := range 3 {
		s.rigs = append(s.rigs, newLawRig(t, s, s.settings(node, false), s.group))
	}
	return s
}

// Whatever happens to permits, their weights and the modes of their nodes, the group knows
// the work in flight, and has its slots back in the end.
func TestPermitsInGroup(t *testing.T) {
	for seed := range uint64(60) {
		s := newShop(t, seed)
		for range 300 {
			s.step()
			s.check()
		}
		for node, r := range s.rigs {
			r.update(s.settings(node, false), law.Fixed{Limit: 9})
		}
		for s.settle(); len(s.running) > 0; s.settle() {
			s.check()
			s.done(0, window.Success)
		}
		if state := s.group.State(); len(s.waiting) > 0 || state.InFlight != 0 || state.Lent != 0 {
			t.Fatalf("seed %d: in the end %d wait in %+v", seed, len(s.waiting), state)
		}
	}
}

func (s *shop) step() {
	for _, r := range s.rigs {
		r.now += time.Duration(s.random.IntN(200)) * ms
		r.now = s.rigs[0].now
	}
	node := s.random.IntN(len(s.rigs))
	r := s.rigs[node]
	switch s.random.IntN(10) {
	case 0, 1, 2:
		s.enter(r, 1+s.random.IntN(3))
	case 3, 4:
		if n := len(s.running); n > 0 {
			s.done(s.random.IntN(n), window.Outcome(s.random.IntN(4)))
		}
	case 5:
		if n := len(s.running); n > 0 {
			p := &s.running[s.random.IntN(n)]
			p.weight = 1 + s.random.IntN(6)
			p.setWeight(p.weight)
		}
	case 6:
		if n := len(s.running); n > 0 {
			p := s.running[s.random.IntN(n)]
			p.measure(&p.ticket, window.Outcome(s.random.IntN(4)))
		}
	case 7:
		if n := len(s.back); n > 0 {
			p := s.back[s.random.IntN(n)]
			p.setWeight(1000)
			if p.measure(&p.ticket, window.Success) || p.done(&p.ticket, window.Success) {
				s.t.Fatal("a ticket that is back was taken")
			}
		}
	case 8:
		laws := []law.Law{s, law.Fixed{Limit: 3}}
		r.update(s.settings(node, s.random.IntN(3) == 0), laws[s.random.IntN(len(laws))])
	case 9:
		now, fx := r.call()
		_ = s.group.Resize(3+s.random.IntN(9), now, fx)
		fx.Woken.Wake()
	}
}

func (p *piece) setWeight(weight int) {
	now, fx := p.call()
	p.node.SetWeight(p.ticket, weight, now, fx)
	fx.Woken.Wake()
}

func (s *shop) enter(r *rig, weight int) {
	q := &request{}
	q.Owner, q.Weight, q.Lane = q, weight, s.random.IntN(4)
	now, fx := r.call()
	r.node.Join(&q.Waiter, now, fx)
	fx.Woken.Wake()
	s.waiting = append(s.waiting, waiting{r, q})
}

func (s *shop) done(i int, outcome window.Outcome) {
	p := s.running[i]
	s.running = slices.Delete(s.running, i, i+1)
	if !p.done(&p.ticket, outcome) {
		s.t.Fatal("a ticket that was out was not taken")
	}
	s.back = append(s.back, p)
}

// settle rechecks the notified waiters, and reads the answers.
func (s *shop) settle() {
	for again := true; again; {
		again = false
		s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool {
			if w.rechecked > 0 {
				w.rechecked, again = 0, true
				now, fx := w.call()
				w.node.Recheck(&w.Waiter, true, now, fx)
				fx.Woken.Wake()
			}
			if w.verdict() == reply.Admitted {
				s.running = append(s.running, piece{w.rig, *w.ticket(), w.Weight})
			}
			return w.verdict() != reply.Waiting
		})
	}
}

func (s *shop) check() {
	s.settle()
	total := 0
	for node, r := range s.rigs {
		weight := 0
		for _, p := range s.running {
			if p.rig == r {
				weight += p.weight
			}
		}
		total += weight
		if state := r.state(); state.InFlight != weight || state.Limit < 1 || state.Limit > 9 {
			s.t.Fatalf("node %d runs %d: %+v", node, weight, state)
		}
	}
	if state := s.group.State(); state.InFlight != total || state.Lent < 0 || state.Reserved != 3 {
		s.t.Fatalf("the group runs %d: %+v", total, state)
	}
}
