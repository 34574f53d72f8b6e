package admit

import (
	"math"

	"github.com/weir-go/weir/internal/window"
)

// room is how much virtual work may wait.
func (n *Node) room() int {
	if n.conf.adaptive {
		return n.longestQueue()
	}
	return int(n.conf.queueSize)
}

// patience is how long virtual work may wait. Its deadlines are not known.
func (n *Node) patience() int64 {
	if r := n.latency(); n.conf.adaptive && r > 0 {
		return min(n.conf.queueTimeout, patience*int64(r))
	}
	return n.conf.queueTimeout
}

// serveVirtual starts virtual work that waits and has room now.
func (n *Node) serveVirtual(now int64, fx *Effects) {
	v := n.virtual()
	for p := v.waiting.oldest(); p != nil; p = v.waiting.oldest() {
		weight := p.weight
		switch {
		case n.tooHeavy(int(weight)):
			n.lapse(TooHeavy, fx)
			continue
		case !n.fits(int(weight)):
			return
		}
		waited := now - p.since
		n.unqueue(p)
		n.startVirtual(weight, now)
		if waited > 0 {
			n.bookWait(waited)
		}
	}
}

func (n *Node) unqueue(p *piece) {
	v := n.virtual()
	v.queued -= int64(p.weight)
	v.waiting.remove(p)
}

// lapse refuses the virtual work that has waited longest.
func (n *Node) lapse(why Verdict, fx *Effects) {
	p := n.virtual().waiting.oldest()
	n.hear(why, int(p.weight))
	n.unqueue(p)
	n.pressed().rare().wouldRefuse++
	if seq := n.nextEvent(); fx.Lapsed == 0 {
		fx.LapsedSeq = seq
	}
	fx.Notable = true
	fx.Lapsed++
}

// catchUp has virtual work start, end and give up, each at its time, until now.
func (n *Node) catchUp(now int64, fx *Effects) {
	for n.step(now, fx) {
	}
}

// step goes to what is due next in the virtual work, if it is due by now. More work in flight than
// really runs waited while its real work ran, and takes as long as that would without load.
func (n *Node) step(now int64, fx *Effects) bool {
	v := n.virtual()
	const never = math.MaxInt64
	ends, lapses, starts := int64(never), int64(never), int64(never)
	if p := v.active.oldest(); p != nil && n.inflight > v.running {
		ends = p.since + int64(v.unloaded.latency)
	}
	if p := v.waiting.oldest(); p != nil {
		lapses = p.since + n.patience()
		if n.awaitsPace() {
			starts = n.last + n.paceDelay(0)
		}
	}
	at := min(ends, lapses, starts)
	if at > now {
		return false
	}
	n.flow(at)
	switch at {
	case ends:
		p := v.active.oldest()
		n.endVirtual(p, p.left, n.last, window.Success)
	case lapses:
		n.lapse(QueueTimeout, fx)
	}
	n.serve(n.last, fx)
	return true
}
