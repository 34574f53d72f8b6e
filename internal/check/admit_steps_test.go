package check

import (
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/queue"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"pgregory.net/rapid"
)

// After any calls in any order, the counts of a node add up, its limit holds, its order of
// service is kept, and no waiter with room is left waiting.
func TestNodeAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { walk(&model{T: t}, 1, anyOrder) })
}

// The same with FIFO queues only, for which the model knows all answers.
func TestPlainQueueAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { walk(&model{T: t}, 1, rapid.Just(queue.FIFO)) })
}

// The same for nodes that share a cap.
func TestGroupAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{T: t, cap: rapid.IntRange(1, 5).Draw(t, "cap")}
		m.group = admit.NewGroup(m.cap)
		walk(m, rapid.IntRange(2, 3).Draw(t, "nodes"), anyOrder)
	})
}

func walk(m *model, nodes int, order *rapid.Generator[queue.Order]) {
	for range nodes {
		n := &modelNode{model: m, refused: map[reply.Verdict]uint64{}}
		n.settings = n.draw(order)
		n.limit = n.settings.Bounds.Initial
		n.wild = rapid.Bool().Draw(m.T, "wild")
		node, err := admit.New(n.settings, n.law(n.wild), m.group, 0)
		if err != nil {
			m.Fatal(err)
		}
		n.Node = node
		m.nodes = append(m.nodes, n)
	}
	on := func(step func(*modelNode)) func(*rapid.T) {
		return func(t *rapid.T) {
			m.T = t
			step(m.nodes[rapid.IntRange(0, len(m.nodes)-1).Draw(t, "node")])
		}
	}
	m.Repeat(map[string]func(*rapid.T){
		"":        func(t *rapid.T) { m.T = t; m.check() },
		"acquire": on((*modelNode).acquire),
		"request": on((*modelNode).join), // most of the behavior concerns waiters
		"join":    on((*modelNode).join),
		"done":    on((*modelNode).done),
		"finish":  on((*modelNode).done),
		"leave":   on((*modelNode).leave),
		"regret":  on((*modelNode).regret),
		"pass":    on((*modelNode).pass),
		"update":  on(func(n *modelNode) { n.update(order) }),
		"ask":     on((*modelNode).ask),
		"end":     on((*modelNode).end),
	})
}

// refusal returns the expected refusal of a request of the given weight, or Admitted if
// there is a slot, or MustWait. The call has settled everything else.
func (n *modelNode) refusal(weight int, patient bool) reply.Verdict {
	switch {
	case n.closed:
		return reply.Closed
	case n.settings.Shadow:
		return reply.Admitted
	case n.tooHeavy(weight):
		return reply.TooHeavy
	case len(n.waiters) == 0 && n.fits(weight):
		return reply.Admitted
	case !patient, n.settings.Order == queue.FIFO && n.settings.QueueSize == 0:
		return reply.LimitReached
	}
	return reply.MustWait
}

// overtakes reports whether work that was not admitted although it fits would have overtaken
// heavier work that waits in another node for more than is free. The model of the hierarchy
// knows whether it should have.
func (n *modelNode) overtakes(want, got reply.Verdict) bool {
	return want == reply.Admitted &&
		(got == reply.MustWait || got == reply.QueueFull || got == reply.LimitReached || got == reply.Deadline) &&
		n.lineIsHeld()
}

func (n *modelNode) acquire() {
	weight := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 1 << 30}).Draw(n.T, "weight")
	if n.settings.Shadow {
		weight = min(weight, 3)
	}
	patient := rapid.Bool().Draw(n.T, "patient")
	var ticket reply.Ticket
	var got reply.Verdict
	n.call(nil, func(now int64, fx *admit.Effects) {
		got = n.Acquire(&ticket, admit.Work{Weight: weight, NoWait: !patient}, now, fx)
	})
	if want := n.refusal(weight, patient); got != want && !n.overtakes(want, got) {
		n.Fatalf("acquired %d: %v, want %v", weight, got, want)
	}
	switch {
	case got == reply.Admitted:
		n.requests++
		n.inFlight += weight
		n.out = append(n.out, &modelTicket{ticket, weight})
	case got.Refused():
		n.requests++
		n.refused[got]++
	}
}

// drawWaiter returns a request that has not joined.
func (n *modelNode) drawWaiter() *modelWaiter {
	w := &modelWaiter{node: n, adaptive: n.settings.Order == queue.Adaptive}
	w.Owner = w
	w.Weight = rapid.SampledFrom([]int{1, 1, 1, 2, 3, 4}).Draw(n.T, "weight")
	w.Lane = rapid.IntRange(0, 2).Draw(n.T, "lane")
	w.Deadline = rapid.SampledFrom([]int64{
		0, 0, far, n.now + 1, n.now - 1, n.now + int64(time.Millisecond), n.now + int64(time.Second),
	}).Draw(n.T, "deadline")
	w.due = w.Deadline
	return w
}

func (n *modelNode) join() { n.submit(n.drawWaiter()) }

// submit has a request join, and returns the answer.
func (n *modelNode) submit(w *modelWaiter) reply.Verdict {
	n.requests++
	n.waiters = append(n.waiters, w)
	var got reply.Verdict
	n.call(w, func(now int64, fx *admit.Effects) {
		w.expires = max(now, n.last) + int64(n.settings.QueueTimeout)
		got = n.Join(&w.Waiter, now, fx)
	})
	if got == reply.Waiting {
		return got // if it was answered meanwhile, that was judged already
	}
	full := n.givesWay(w)
	n.remove(w)
	n.judgeAnswer(w, got, full)
	if got == reply.Admitted {
		n.inFlight += w.Weight
		n.answered = append(n.answered, w)
	} else {
		n.refused[got]++
	}
	return got
}

// judgeAnswer checks the answer to a newcomer that does not wait. yields reports whether a full
// queue would give it up.
func (n *modelNode) judgeAnswer(w *modelWaiter, got reply.Verdict, yields bool) {
	full := n.settings.Order == queue.Adaptive || len(n.waiters) >= n.settings.QueueSize && yields
	want := n.refusal(w.Weight, true)
	switch {
	case got == want && got != reply.MustWait:
	case got == reply.Deadline && w.due != 0 && w.due != far && want == reply.MustWait:
	case want == reply.MustWait && got == reply.QueueFull && full:
	case n.overtakes(want, got):
	default:
		n.Fatalf("joined: %v, want %v", got, want)
	}
}

// ask asks whether the node is full for work, which then joins unless it was refused.
func (n *modelNode) ask() {
	w := n.drawWaiter()
	question := w.Waiter
	var foreseen reply.Verdict
	var at int64
	n.call(nil, func(now int64, fx *admit.Effects) { at, foreseen = now, n.Full(&question, now, fx) })
	if foreseen.Refused() {
		n.requests++
		n.refused[foreseen]++
		n.waiters = append(n.waiters, w)
		yields := n.givesWay(w)
		n.remove(w)
		n.judgeAnswer(w, foreseen, yields)
		return
	}
	n.check()
	if got := n.submit(w); at == n.now && got != foreseen {
		n.Fatalf("joined: %v, but Full said %v", got, foreseen)
	}
}

// done returns a ticket; now and then twice, which must have no effect.
func (n *modelNode) done() {
	n.look()
	if len(n.out) == 0 {
		return
	}
	i := rapid.IntRange(0, len(n.out)-1).Draw(n.T, "ticket")
	ticket := n.out[i]
	outcome := rapid.SampledFrom([]window.Outcome{
		window.Success, window.Success, window.Failure, window.Timeout, window.Ignore,
	}).Draw(n.T, "outcome")
	n.out = append(n.out[:i:i], n.out[i+1:]...)
	n.completed++
	n.inFlight -= ticket.weight
	n.call(nil, func(now int64, fx *admit.Effects) {
		if !n.Done(ticket.Ticket, now, outcome, fx) {
			n.Fatalf("a ticket that was out was not taken back")
		}
	})
	if n.inFlight == 0 && len(n.waiters) == 0 {
		n.strictAtLeast, n.strictAtMost, n.without = 0, 0, [lanes]int{}
	}
	if rapid.Bool().Draw(n.T, "twice") {
		before, last := n.State(n.now), n.last
		n.call(nil, func(now int64, fx *admit.Effects) {
			if n.Done(ticket.Ticket, now, outcome, fx) {
				n.Fatalf("a ticket was taken back twice")
			}
		})
		n.last = last // the node does not look at the time either
		if after := n.State(n.now); !reflect.DeepEqual(before, after) {
			n.Fatalf("a second Done changed %+v to %+v", before, after)
		}
	}
}

// look makes the owners of admitted requests take their tickets.
func (n *modelNode) look() {
	for _, w := range n.answered {
		n.out = append(n.out, &modelTicket{w.Ticket, w.Weight})
	}
	n.answered = nil
}

// leave makes a waiter give up, for either reason.
func (n *modelNode) leave() {
	if len(n.waiters) == 0 {
		return
	}
	w := n.waiters[rapid.IntRange(0, len(n.waiters)-1).Draw(n.T, "waiter")]
	why := reply.Cancelled
	if n.now >= w.expires && rapid.Bool().Draw(n.T, "timed out") {
		why = reply.QueueTimeout
	}
	var got reply.Verdict
	n.leaving(w, func(now int64, fx *admit.Effects) { got = n.Leave(&w.Waiter, why, now, fx) })
	switch {
	case w.calls > 0:
		if got != w.Verdict {
			n.Fatalf("left with %v, but was answered with %v", got, w.Verdict)
		}
	case why == reply.QueueTimeout && got == reply.Deadline:
		// The adaptive queue returns this if the deadline passed first.
		if w.due == 0 || w.due == far {
			n.Fatalf("left with %v, want %v", got, why)
		}
		n.refused[got]++
	case got != why:
		n.Fatalf("left with %v, want %v", got, why)
	case why == reply.Cancelled:
		n.cancelled++
	default:
		n.refused[why]++
	}
}

// leaving removes w from the model unless the call answers it first.
func (n *modelNode) leaving(w *modelWaiter, do func(now int64, fx *admit.Effects)) {
	n.call(w, func(now int64, fx *admit.Effects) {
		do(now, fx)
		if !answeredBy(fx, w) {
			n.remove(w)
		}
	})
}

// answeredBy reports whether the call answered w.
func answeredBy(fx *admit.Effects, w *modelWaiter) bool {
	fx.Woken.Wake()
	fx.Woken = queue.Woken{}
	return w.calls > 0
}

// regret makes a caller leave after its request was admitted, before it looked.
func (n *modelNode) regret() {
	if len(n.answered) == 0 {
		return
	}
	w := n.answered[len(n.answered)-1]
	if w.calls == 0 {
		return
	}
	n.answered = n.answered[:len(n.answered)-1]
	n.completed++
	n.inFlight -= w.Weight
	for range 2 { // the second time changes nothing
		n.call(nil, func(now int64, fx *admit.Effects) {
			if got := n.Leave(&w.Waiter, reply.Cancelled, now, fx); got != reply.Cancelled {
				n.Fatalf("left with %v", got)
			}
		})
	}
}

func (n *modelNode) pass() {
	n.now += int64(rapid.SampledFrom([]time.Duration{
		1, time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond, time.Second, 11 * time.Second,
	}).Draw(n.T, "time"))
}

func (n *modelNode) update(order *rapid.Generator[queue.Order]) {
	next := n.draw(order)
	wild := rapid.Bool().Draw(n.T, "wild")
	// The window may close first, under the old settings, and then it serves in their order.
	n.call(nil, func(now int64, fx *admit.Effects) { n.Forbid(reply.Cancelled, now, fx) })
	n.requests++
	n.cancelled++
	n.call(nil, func(now int64, fx *admit.Effects) {
		n.settings, n.wild = next, wild
		n.limit = min(max(n.limit, next.Bounds.Min), next.Bounds.Max)
		n.see()
		if err := n.Update(next, n.law(wild), now, fx); err != nil {
			n.Fatal(err)
		}
	})
}

// end closes or drains the node, rarely, because little happens afterwards.
func (n *modelNode) end() {
	if !oneIn(n.T, 10, "end") {
		return
	}
	switch rapid.Bool().Draw(n.T, "close") {
	case true:
		n.closed = true
		n.call(nil, n.Close)
		if len(n.waiters) > 0 {
			n.Fatalf("%d still wait after Close", len(n.waiters))
		}
	case false:
		n.closed = true
		n.call(nil, func(now int64, fx *admit.Effects) { n.drained = n.Drain(now, fx) })
	}
}
