package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// A twin is nodes that receive requests, which ask Full first or do not.
type twin struct {
	*rapid.T
	plan      twinPlan
	asks      bool
	refused   bool // by Full, in this step
	now       int64
	group     *admit.Group
	nodes     []*admit.Node
	running   []*twinTicket
	waiting   []*twinWaiter
	rechecked []*twinWaiter
	told      []string  // events of the step,
	estimates []float64 // and estimates, which an extra call may round differently
}

type twinTicket struct {
	reply.Ticket
	node *admit.Node
}

type twinWaiter struct {
	queue.Waiter
	twin *twin
	node *admit.Node
}

func (w *twinWaiter) Recheck() { w.twin.rechecked = append(w.twin.rechecked, w) }
func (w *twinWaiter) Wake()    { w.twin.hear(w) }

// twinLaw returns one limit after the other.
type twinLaw struct {
	limits []int
	asked  int
}

func (l twinLaw) Controller(law.Bounds) (law.Controller, error) { return &l, nil }

func (l *twinLaw) Next(law.Window) law.Decision {
	l.asked++
	return law.Decision{Limit: float64(l.limits[l.asked%len(l.limits)])}
}

func nearly(a, b float64) bool { return math.Abs(a-b) <= 1e-5*max(a, b) }

func newTwin(t *rapid.T, p twinPlan) *twin {
	tw := &twin{T: t, plan: p}
	if p.cap > 0 {
		tw.group = admit.NewGroup(p.cap)
	}
	for _, s := range p.nodes {
		node, err := admit.New(s, twinLaw{limits: p.limits}, tw.group, 0)
		if err != nil {
			t.Fatal(err)
		}
		tw.nodes = append(tw.nodes, node)
	}
	return tw
}

// take performs a step and returns everything observable about it.
func (tw *twin) take(s twinStep) string {
	tw.told, tw.estimates, tw.refused = nil, nil, false
	node := tw.nodes[s.node%len(tw.nodes)]
	if tw.plan.prompt {
		for _, w := range slices.Clone(tw.waiting) {
			tw.look(w, false)
		}
	}
	switch s.kind {
	case "request":
		tw.request(node, s)
	case "ask":
		tw.onlyAsk(node, s)
	case "done":
		tw.done(s)
	case "leave":
		tw.leave(s)
	case "pass":
		tw.now += int64(s.passes)
	case "pace":
		tw.call(func(fx *admit.Effects) { node.SetPace(s.pace, tw.now, fx) })
	case "cap":
		tw.call(func(fx *admit.Effects) { node.SetCap(s.index%10, tw.now, fx) })
	case "update":
		tw.call(func(fx *admit.Effects) { _ = node.Update(s.settings, twinLaw{limits: tw.plan.limits}, tw.now, fx) })
	case "end":
		tw.call(func(fx *admit.Effects) { _ = node.Drain(tw.now, fx) })
	}
	for i, n := range tw.nodes {
		state := n.State(tw.now)
		tw.estimates = append(tw.estimates, state.DrainRate)
		state.DrainRate = 0
		tw.note("node %d: %+v", i, state)
	}
	slices.Sort(tw.told) // two calls report in another order than one
	return strings.Join(tw.told, "\n")
}

func (tw *twin) note(format string, of ...any) { tw.told = append(tw.told, fmt.Sprintf(format, of...)) }

// call makes a call and applies its effects.
func (tw *twin) call(do func(fx *admit.Effects)) {
	var fx admit.Effects
	do(&fx)
	if fx.Change != nil {
		tw.note("change %+v", *fx.Change)
	}
	for _, lapse := range fx.Lapsed {
		tw.note("would refuse %d: %v", lapse.Seq, lapse.Why)
	}
	if fx.WouldRefuse != reply.Admitted {
		tw.note("would refuse %d: %v", fx.Seq, fx.WouldRefuse)
	}
	fx.Woken.Wake()
	for len(tw.rechecked) > 0 {
		w := tw.rechecked[0]
		tw.rechecked = tw.rechecked[1:]
		tw.look(w, true)
	}
}

func (tw *twin) look(w *twinWaiter, rechecked bool) {
	if w.Verdict != reply.Waiting {
		return
	}
	tw.call(func(fx *admit.Effects) { w.node.Recheck(&w.Waiter, rechecked, tw.now, fx) })
	if w.Verdict.Refused() {
		tw.hear(w)
	}
}

// hear records the answer to a waiter.
func (tw *twin) hear(w *twinWaiter) {
	for i, other := range tw.waiting {
		if other == w {
			tw.waiting = append(tw.waiting[:i:i], tw.waiting[i+1:]...)
			verdict, ticket := w.Answer()
			_, seq := w.Refusal()
			tw.note("waiter %d: %v %d", i, verdict, seq)
			if verdict == reply.Admitted {
				tw.admit(ticket)
				tw.running = append(tw.running, &twinTicket{ticket, w.node})
			}
			return
		}
	}
}

func (tw *twin) waiter(node *admit.Node, s twinStep) *twinWaiter {
	w := &twinWaiter{twin: tw, node: node}
	w.Owner, w.Weight, w.Lane, w.Tenant = w, s.weight, s.lane, s.tenant
	if s.deadline > 0 {
		w.Deadline = tw.now + int64(s.deadline)
	}
	return w
}

func (tw *twin) full(node *admit.Node, s twinStep) (verdict reply.Verdict) {
	w := tw.waiter(node, s)
	tw.call(func(fx *admit.Effects) { verdict = node.Full(&w.Waiter, tw.now, fx) })
	if verdict.Refused() {
		tw.refused = true
		retryAfter, seq := w.Refusal()
		tw.refuse(verdict, retryAfter, seq)
	}
	return verdict
}

func (tw *twin) admit(ticket reply.Ticket) {
	r := ticket.Out()
	tw.note("admitted: since %d, weight %d, tenant %d %d, %v", r.Start, r.Weight, r.Tenant, r.Stamp,
		r.Has(reply.Virtually))
}

func (tw *twin) refuse(verdict reply.Verdict, retryAfter int64, seq uint64) {
	tw.note("refused: %v %d", verdict, seq)
	tw.estimates = append(tw.estimates, float64(retryAfter))
}

// request submits work as a limiter does.
func (tw *twin) request(node *admit.Node, s twinStep) {
	foreseen := reply.Admitted
	if tw.asks {
		if foreseen = tw.full(node, s); tw.refused {
			return
		}
	}
	var verdict reply.Verdict
	var retryAfter int64
	var seq uint64
	ticket := &twinTicket{node: node}
	tw.call(func(fx *admit.Effects) {
		verdict = node.Acquire(&ticket.Ticket, admit.Work{Tenant: s.tenant, Weight: s.weight}, tw.now, fx)
		retryAfter, seq = fx.RetryAfter, fx.Seq
	})
	if verdict == reply.MustWait {
		w := tw.waiter(node, s)
		tw.waiting = append(tw.waiting, w)
		tw.call(func(fx *admit.Effects) { verdict = node.Join(&w.Waiter, tw.now, fx) })
		if verdict != reply.Waiting {
			tw.waiting = tw.waiting[:len(tw.waiting)-1]
			_, ticket.Ticket = w.Answer()
			retryAfter, seq = w.Refusal()
		}
	}
	switch {
	case verdict.Refused():
		tw.refuse(verdict, retryAfter, seq)
	case verdict == reply.Admitted:
		tw.admit(ticket.Ticket)
		tw.running = append(tw.running, ticket)
	}
	if tw.asks && (verdict.Refused() || tw.plan.prompt && verdict != foreseen) {
		tw.Fatalf("%v, but Full said %v", verdict, foreseen)
	}
}

// onlyAsk makes one twin ask Full for work that is then not submitted unless it is refused.
// A call that looks into the queue may shuffle tenants, remove expired waiters and create
// the queue, so none of that may be due; and it renews the estimate of the service time if
// that is some milliseconds old.
func (tw *twin) onlyAsk(node *admit.Node, s twinStep) {
	settings := node.Settings()
	if settings.Tenants > 0 || !tw.plan.prompt || settings.Order == queue.Adaptive && node.State(tw.now).Queued == 0 {
		return
	}
	if tw.asks {
		tw.full(node, s)
	}
	switch {
	case s.refused:
		tw.request(node, s)
	case !tw.refused:
		tw.call(func(fx *admit.Effects) { node.Forbid(reply.Cancelled, tw.now, fx) })
		tw.now += int64(20 * time.Millisecond)
	}
}

func (tw *twin) done(s twinStep) {
	if len(tw.running) == 0 {
		return
	}
	i := s.index % len(tw.running)
	ticket := tw.running[i]
	tw.running = append(tw.running[:i:i], tw.running[i+1:]...)
	tw.call(func(fx *admit.Effects) { ticket.node.Done(ticket.Ticket, tw.now, s.outcome, fx) })
}

func (tw *twin) leave(s twinStep) {
	if len(tw.waiting) == 0 {
		return
	}
	w := tw.waiting[s.index%len(tw.waiting)]
	tw.call(func(fx *admit.Effects) { w.node.Leave(&w.Waiter, reply.Cancelled, tw.now, fx) })
	if w.Verdict == reply.Cancelled {
		tw.hear(w)
	}
}
