package admit

import (
	"time"

	"github.com/weir-go/weir/internal/window"
)

// farBack is how much earlier than the last one a reading of the clock may be and count as that
// one: goroutines that read the clock in one order and get the lock in the other are less apart.
// Beyond it the clock itself was turned back. A bubble of testing/synctest does that to a limiter
// that was made outside of it.
const farBack = int64(time.Second)

// turnBack has the node measure anew from a time that is before the last one. Those who wait keep
// their times, which are of the clock that they know.
func (n *Node) turnBack(now int64) {
	back := n.last - now
	n.last = now
	n.due -= back
	n.expired -= back
	if n.meter != nil {
		n.meter.TurnBack(now)
	}
	if p := n.pressure; p != nil {
		p.until = min(p.until, now)
	}
	if q := n.queue; q != nil && q.extras != nil {
		q.extras.service = service{}
		if t := q.extras.tenants; t != nil {
			t.due = min(t.due, now+int64(shuffleEvery))
		}
	}
	if n.flags&shadow != 0 {
		v := n.virtual()
		v.meter.TurnBack(now)
		v.unloaded.turnBack()
	}
}

// turnBack drops the cohort at hand.
func (u *unloaded) turnBack() {
	*u = unloaded{latency: u.latency, inflight: u.inflight, cohorts: u.cohorts}
}

// measure tells the meter that work has ended. If the clock was turned back while it ran, nobody
// knows how long that was.
func measure(m *window.Meter, start, now int64, weight int32, o window.Outcome) {
	if start > now {
		start, o = window.BeforeAll, window.Ignore
	}
	m.Done(start, now, int(weight), o)
}
