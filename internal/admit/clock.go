package admit

import (
	"math"
	"time"
)

// farBack is how far a clock reading may lie before the last reading and still count as equal to
// it. Goroutines that read the clock in one order and lock in the other differ by less. A larger
// step means that the clock was turned back. A bubble of testing/synctest turns back the clock of a
// limiter that was created outside the bubble.
const farBack = int64(time.Second)

// turnBack restarts the measurements from a time before the last reading. Waiters keep their times,
// which come from their own clock.
func (n *Node) turnBack(now int64) {
	back := n.last - now
	n.last = now
	n.due -= back
	n.expired -= back
	if n.slots.meter != nil {
		n.slots.meter.TurnBack(now)
	}
	if c := n.slots.contention; c != nil {
		c.until = min(c.until, now)
		if c.cold != nil {
			c.cold.pushback.turnBack(now)
			n.slots.endRests(math.MaxInt64)
		}
	}
	if n.queue != nil {
		n.queue.TurnBack()
	}
	if n.slots.flags&shadow != 0 {
		n.slots.double().TurnBack(now)
	}
}
