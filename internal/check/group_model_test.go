package check

import (
	"slices"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"pgregory.net/rapid"
)

// A hierarchy is an observer of a group whose nodes have allocations and FIFO queues. It
// judges whether each answer had free slots, whose slots they were, and which request was
// first in the queue; among equals it accepts any order.
type hierarchy struct {
	*rapid.T
	now       int64
	cap       int
	group     *admit.Group
	parties   []*party
	woken     []*groupWaiter // by the current call, in order
	rechecked []*groupWaiter // by the current call

	dispatched func(*party) // optional; called before each dispatch
}

// A party is one node of the group.
type party struct {
	*admit.Node
	*hierarchy
	limit, size int
	timeout     time.Duration
	reserved    int
	share       float64

	inFlight int
	queue    []*groupWaiter
	out      []*groupWaiter // admitted and not yet done
}

type groupWaiter struct {
	queue.Waiter
	party   *party
	expires int64
	calls   int
}

func (g *groupWaiter) Wake() {
	g.calls++
	g.party.woken = append(g.party.woken, g)
}

func (g *groupWaiter) Recheck() { g.party.rechecked = append(g.party.rechecked, g) }

func (p *party) busy() bool { return p.inFlight > 0 || len(p.queue) > 0 }

func (h *hierarchy) total() (inFlight, reserved, committed int) {
	for _, p := range h.parties {
		inFlight += p.inFlight
		reserved += p.reserved
		committed += max(p.inFlight, p.reserved)
	}
	return inFlight, reserved, committed
}

// entitled returns the party's reserve and its share of the rest among the active parties,
// including the newcomer.
func (p *party) entitled(newcomer *party) float64 {
	shares := 0.0
	for _, other := range p.parties {
		if other.busy() || other == newcomer {
			shares += other.share
		}
	}
	_, reserved, _ := p.total()
	return float64(p.reserved) + float64(p.cap-reserved)*p.share/shares
}

// hasRoom reports whether the party may start work of that weight if it is next.
func (p *party) hasRoom(weight int) bool {
	inFlight, _, committed := p.total()
	after := committed - max(p.inFlight, p.reserved) + max(p.inFlight+weight, p.reserved)
	return p.inFlight+weight <= p.limit && inFlight+weight <= p.cap && (after == committed || after <= p.cap)
}

func (p *party) tooHeavy(weight int) bool {
	_, reserved, _ := p.total()
	return weight > p.limit || weight > p.cap-reserved+p.reserved
}

// awaitsGroup reports whether only the group blocks the party's next work.
func (p *party) awaitsGroup() bool {
	return len(p.queue) > 0 && p.inFlight+p.queue[0].Weight <= p.limit
}

// slack is for comparisons of quotients.
const slack = 1e-9

// A candidate is a party with the weight of its next work.
type candidate struct {
	*party
	weight int
}

// next returns the candidate of a party that waits for the group.
func (p *party) next() candidate { return candidate{p, p.queue[0].Weight} }

// goesBefore reports whether c is served before other; false if they are equal. The newcomer
// is one of the two if either is not active yet.
func (c candidate) goesBefore(other candidate, newcomer *party) bool {
	switch mine := c.within(newcomer); {
	case mine != other.within(newcomer):
		return mine
	case mine:
		return c.held(c.weight) < other.held(other.weight)-slack
	}
	return max(0, c.held(0)) < max(0, other.held(0))-slack
}

// within reports whether the party stays within its entitlement with the work.
func (c candidate) within(newcomer *party) bool {
	return float64(c.inFlight+c.weight) <= c.entitled(newcomer)+slack
}

// held returns the slots that the party uses beyond its reserve, plus more, divided by its
// share.
func (c candidate) held(more int) float64 { return float64(c.inFlight+more-c.reserved) / c.share }

// call makes one call, rechecks the waiters that it names, and judges its answers. It judges
// turns only if the order of the answers is known.
func (h *hierarchy) call(inOrder bool, do func(fx *admit.Effects)) {
	h.effects(do)
	h.judgeWoken(inOrder)
	for len(h.rechecked) > 0 {
		g := h.rechecked[0]
		h.rechecked = h.rechecked[1:]
		h.effects(func(fx *admit.Effects) { g.party.Recheck(&g.Waiter, true, h.now, fx) })
		if g.Verdict.Refused() && !slices.Contains(h.woken, g) {
			g.party.judge(g, inOrder) // it is not woken, because its owner looked, and comes before the woken ones
		}
		h.judgeWoken(inOrder)
	}
}

// effects makes one call and wakes the waiters that it answered.
func (h *hierarchy) effects(do func(fx *admit.Effects)) {
	h.woken = nil
	var fx admit.Effects
	do(&fx)
	fx.Woken.Wake()
}

func (h *hierarchy) judgeWoken(inOrder bool) {
	for _, g := range h.woken {
		g.party.judge(g, inOrder)
	}
}

func (p *party) judge(g *groupWaiter, inOrder bool) {
	switch g.Verdict {
	case reply.Admitted:
		switch {
		case p.now >= g.expires:
			p.Fatalf("dispatched after its time was up")
		case p.queue[0] != g:
			p.Fatalf("dispatched out of order")
		case !p.hasRoom(g.Weight):
			p.Fatalf("weight %d was dispatched without room: %s", g.Weight, p.describe())
		}
		for _, other := range p.parties {
			if inOrder && other != p && other.awaitsGroup() &&
				other.next().goesBefore(candidate{p, g.Weight}, p) {
				p.Fatalf("dispatched before its turn: %s", p.describe())
			}
		}
		if p.dispatched != nil {
			p.dispatched(p)
		}
		p.inFlight += g.Weight
		p.out = append(p.out, g)
	case reply.QueueTimeout:
		if p.now < g.expires {
			p.Fatalf("timed out early")
		}
	case reply.TooHeavy:
		if !p.tooHeavy(g.Weight) {
			p.Fatalf("weight %d is too heavy: %s", g.Weight, p.describe())
		}
	default:
		p.Fatalf("woken with %v", g.Verdict)
	}
	p.forget(g)
}

// forget removes g from the queue.
func (p *party) forget(g *groupWaiter) {
	i := slices.Index(p.queue, g)
	if i < 0 {
		p.Fatalf("answered a second time: %d calls of Wake", g.calls)
	}
	p.queue = append(p.queue[:i:i], p.queue[i+1:]...)
}

// check compares counts with the model, and looks for a free slot that no waiter received.
func (h *hierarchy) check() {
	inFlight, reserved, committed := h.total()
	s := h.group.State()
	if s.InFlight != inFlight || s.Reserved != reserved || s.Lent != committed-reserved || s.Limit != h.cap {
		h.Fatalf("%+v, want %d in flight, %d reserved, %d lent of %d", s, inFlight, reserved, committed-reserved, h.cap)
	}
	busy := 0
	for _, p := range h.parties {
		if p.busy() {
			busy++
		}
		p.check()
	}
	if s.Busy != busy {
		h.Fatalf("%d members are busy, want %d", s.Busy, busy)
	}
}

func (p *party) check() {
	s := p.State(p.now)
	if s.InFlight != p.inFlight || s.Queued != len(p.queue) {
		p.Fatalf("%d in flight and %d queued, want %s", s.InFlight, s.Queued, p.describe())
	}
	if want := min(p.entitled(p), float64(p.limit)); s.Member.Entitled < want-slack || s.Member.Entitled > want+slack {
		p.Fatalf("entitled to %v, want %v: %s", s.Member.Entitled, want, p.describe())
	}
	if !p.awaitsGroup() {
		return
	}
	weight := p.queue[0].Weight
	if !p.hasRoom(weight) {
		return
	}
	for _, other := range p.parties { // unless an earlier request waits for more
		if other != p && other.awaitsGroup() && !other.hasRoom(other.queue[0].Weight) &&
			!p.next().goesBefore(other.next(), p) {
			return
		}
	}
	p.Fatalf("work has room, is next, and was not dispatched: %s", p.describe())
}
