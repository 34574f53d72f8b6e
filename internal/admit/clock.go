package admit

import "time"

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
	if c := n.contention; c != nil {
		c.until = min(c.until, now)
	}
	if n.queue != nil {
		n.queue.TurnBack(now)
	}
	if n.flags&shadow != 0 {
		n.virtual().TurnBack(now)
	}
}
