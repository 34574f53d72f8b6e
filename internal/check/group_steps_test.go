package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
	"github.com/weir-go/weir/law"
	"pgregory.net/rapid"
)

// After any calls of the nodes of a group, with changing allocations and cap: the work in
// flight stays below the cap, a reserve is available to its owner, a free slot goes to the
// next waiter in the queue, and every waiter is answered once.
func TestHierarchyAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &hierarchy{T: t, cap: rapid.IntRange(1, 10).Draw(t, "cap")}
		h.group = admit.NewGroup(h.cap)
		for range rapid.IntRange(2, 5).Draw(t, "nodes") {
			h.add((&party{hierarchy: h}).draw())
		}
		on := func(step func(*party)) func(*rapid.T) {
			return func(t *rapid.T) {
				h.T = t
				step(h.parties[rapid.IntRange(0, len(h.parties)-1).Draw(t, "node")])
			}
		}
		h.Repeat(map[string]func(*rapid.T){
			"":        func(t *rapid.T) { h.T = t; h.check() },
			"acquire": on((*party).acquire),
			"request": on(func(p *party) { p.join(p.weight()) }), // most of the behavior concerns waiters
			"join":    on(func(p *party) { p.join(p.weight()) }),
			"queue":   on(func(p *party) { p.join(p.weight()) }),
			"done":    on((*party).done),
			"finish":  on((*party).done),
			"end":     on((*party).done),
			"leave":   on((*party).leave),
			"pass":    on((*party).pass),
			"update":  on((*party).update),
			"resize":  on((*party).resize),
			"remove":  on((*party).remove),
		})
	})
}

// draw changes the party's settings.
func (p *party) draw() *party {
	p.limit = rapid.SampledFrom([]int{1, 2, 4, 10, 10}).Draw(p.T, "limit")
	p.size = rapid.SampledFrom([]int{0, 1, 3, 5, 5}).Draw(p.T, "size")
	p.timeout = rapid.SampledFrom([]time.Duration{time.Second, time.Hour, time.Hour}).Draw(p.T, "timeout")
	p.reserved = 0
	_, others, _ := p.total()
	p.reserved = min(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 4}).Draw(p.T, "reserved"), p.limit, p.cap-others)
	p.share = rapid.SampledFrom([]float64{1, 1, 2, 0.5, 10}).Draw(p.T, "share")
	return p
}

func (p *party) settings() admit.Settings {
	return admit.Settings{
		Bounds:   law.Bounds{Min: p.limit, Max: p.limit, Initial: p.limit},
		Interval: time.Second, Lookback: time.Second, MinSamples: 1,
		QueueSize: p.size, QueueTimeout: p.timeout,
		Allocation: &admit.Allocation{Reserved: p.reserved, Share: p.share},
	}
}

// add adds a party that its caller drew.
func (h *hierarchy) add(p *party) {
	node, err := admit.New(p.settings(), law.Fixed{}, h.group, h.now)
	if err != nil {
		h.Fatal(err)
	}
	p.Node = node
	h.parties = append(h.parties, p)
}

func (p *party) update() {
	p.call(true, func(fx *admit.Effects) {
		p.draw()
		if err := p.Update(p.settings(), law.Fixed{}, p.now, fx); err != nil {
			p.Fatal(err)
		}
	})
}

func (p *party) resize() {
	_, reserved, _ := p.total()
	p.call(true, func(fx *admit.Effects) {
		p.cap = rapid.IntRange(max(1, reserved), 10).Draw(p.T, "slots")
		p.group.Resize(p.cap, p.now, fx)
	})
}

// remove removes a node from the group, if that is allowed, and adds another.
func (p *party) remove() {
	if !oneIn(p.T, 3, "remove") {
		return
	}
	removed := false
	p.call(true, func(fx *admit.Effects) {
		removed = p.group.Remove(p.Node, p.now, fx)
		if removed == p.busy() {
			p.Fatalf("removed: %v: %s", removed, p.describe())
		}
		if removed {
			p.parties = slices.DeleteFunc(slices.Clone(p.parties), func(other *party) bool { return other == p })
		}
	})
	if removed {
		p.add((&party{hierarchy: p.hierarchy}).draw())
	}
}

// full reports whether the queue is full. Expired waiters at its head do not count.
func (p *party) full() bool {
	live := 0
	for _, g := range p.queue {
		if p.now < g.expires || live > 0 {
			live++
		}
	}
	return live >= p.size
}

// wants checks the answer to work that arrives now; otherwise is the expected answer if it
// cannot start.
func (p *party) wants(got reply.Verdict, weight int, otherwise reply.Verdict) {
	behind, tied := false, false // another request waits for the group
	for _, other := range p.parties {
		if other == p || !other.awaitsGroup() {
			continue
		}
		behind = behind || other.next().goesBefore(candidate{p, weight}, p)
		tied = tied || !candidate{p, weight}.goesBefore(other.next(), p)
	}
	want := otherwise
	switch free := len(p.queue) == 0 && p.hasRoom(weight); {
	case p.tooHeavy(weight):
		want = reply.TooHeavy
	case free && !behind && (!tied || got == reply.Admitted):
		want = reply.Admitted
	}
	if got != want {
		p.Fatalf("weight %d: %v, want %v: %s", weight, got, want, p.describe())
	}
}

func (p *party) weight() int {
	return rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3, 5}).Draw(p.T, "weight")
}

func (p *party) acquire() {
	g := &groupWaiter{party: p}
	g.Weight = p.weight()
	patient := rapid.Bool().Draw(p.T, "patient")
	var got reply.Verdict
	p.call(true, func(fx *admit.Effects) {
		got = p.Acquire(&g.Ticket, admit.Work{Weight: g.Weight, NoWait: !patient}, p.now, fx)
	})
	otherwise := reply.LimitReached
	if patient && p.size > 0 {
		otherwise = reply.MustWait
	}
	p.wants(got, g.Weight, otherwise)
	if got == reply.Admitted {
		p.inFlight += g.Weight
		p.out = append(p.out, g)
	}
}

// join asks with a waiter. The observer cannot see whether others are served before or after
// it.
func (p *party) join(weight int) {
	g := &groupWaiter{party: p, expires: p.now + int64(p.timeout)}
	g.Owner, g.Weight = g, weight
	p.queue = append(p.queue, g)
	var got reply.Verdict
	p.call(false, func(fx *admit.Effects) { got = p.Join(&g.Waiter, p.now, fx) })
	if got == reply.Waiting && g.calls > 0 {
		return // already judged
	}
	queue := p.queue
	p.forget(g)
	if got == reply.Waiting {
		p.wants(reply.MustWait, g.Weight, reply.MustWait)
		p.queue = queue
		return
	}
	otherwise := reply.MustWait
	switch {
	case p.size == 0:
		otherwise = reply.LimitReached
	case p.full():
		otherwise = reply.QueueFull
	}
	p.wants(got, g.Weight, otherwise)
	if got == reply.Admitted {
		p.inFlight += g.Weight
		p.out = append(p.out, g)
	}
}

func (p *party) done() {
	if len(p.out) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.out)-1).Draw(p.T, "ticket")
	g := p.out[i]
	p.out = append(p.out[:i:i], p.out[i+1:]...)
	p.inFlight -= g.Weight
	p.call(true, func(fx *admit.Effects) {
		if !p.Done(g.Ticket, p.now, window.Success, fx) {
			p.Fatalf("a ticket that was out was not taken back")
		}
	})
}

func (p *party) leave() {
	if len(p.queue) == 0 {
		return
	}
	g := p.queue[rapid.IntRange(0, len(p.queue)-1).Draw(p.T, "waiter")]
	p.forget(g)
	p.call(true, func(fx *admit.Effects) {
		if got := p.Leave(&g.Waiter, reply.Cancelled, p.now, fx); got != reply.Cancelled {
			p.Fatalf("left with %v", got)
		}
	})
}

func (p *party) pass() {
	p.now += int64(rapid.SampledFrom([]time.Duration{1, 300 * time.Millisecond, time.Second}).Draw(p.T, "time"))
}

// describe returns the state of the group.
func (h *hierarchy) describe() string {
	var text strings.Builder
	fmt.Fprintf(&text, "cap %d", h.cap)
	for _, p := range h.parties {
		fmt.Fprintf(&text, "; %d of %d in flight, reserve %d, share %v, entitled to %.2f, queue", p.inFlight, p.limit,
			p.reserved, p.share, p.entitled(p))
		for _, g := range p.queue {
			fmt.Fprintf(&text, " %d", g.Weight)
		}
	}
	return text.String()
}

// While a node with share 1 waits and uses no more than its reserve, another node with share
// s gets at most s+1 slots beyond its entitlement; while the waiting node would stay within
// its entitlement, the other gets at most one slot with an equal right.
func TestHierarchyStarvesNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &hierarchy{T: t, cap: rapid.IntRange(1, 8).Draw(t, "cap")}
		h.group = admit.NewGroup(h.cap)
		for range rapid.IntRange(2, 6).Draw(t, "nodes") {
			h.addGreedy()
		}
		waits := map[*party]*passed{}
		for _, p := range h.parties {
			waits[p] = newPassed()
		}
		h.dispatched = func(served *party) {
			for _, p := range h.parties {
				if p != served && len(p.queue) > 0 {
					waits[p].over(p, served)
				}
			}
			waits[served] = newPassed()
		}
		h.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { h.T = t; h.check() },
			"pass": func(t *rapid.T) {
				h.T = t
				p := h.parties[rapid.IntRange(0, len(h.parties)-1).Draw(t, "node")]
				p.done()
				for len(p.queue) < rapid.IntRange(0, 4).Draw(t, "waiting") {
					p.join(1)
				}
			},
		})
	})
}

// passed counts how often other parties were served since a party was.
type passed struct{ byTurn, byRight map[*party]int }

func newPassed() *passed { return &passed{map[*party]int{}, map[*party]int{}} }

// over records that p waits while the other is served.
func (w *passed) over(p, served *party) {
	mine, theirs := candidate{p, 1}, candidate{served, 1}
	most := float64(1)
	count := w.byRight
	switch {
	case theirs.within(p) && mine.within(p) && math.Abs(mine.held(1)-theirs.held(1)) < slack:
	case !theirs.within(p) && p.inFlight <= p.reserved:
		most, count = served.share/p.share+1, w.byTurn
	default:
		return
	}
	count[served]++
	if float64(count[served]) > most+slack {
		p.Fatalf("passed over %d times for a share of %v to %v: %s", count[served], served.share, p.share, p.describe())
	}
}

func (h *hierarchy) addGreedy() {
	p := &party{hierarchy: h, limit: 100, size: 10, timeout: time.Hour}
	p.share = rapid.SampledFrom([]float64{1, 1, 2, 0.5, 4}).Draw(h.T, "share")
	_, reserved, _ := h.total()
	p.reserved = rapid.IntRange(0, min(1, h.cap-reserved)).Draw(h.T, "reserved")
	h.add(p)
}
