package admit

import "time"

// inARow is the number of refusals in a row after which the downstream counts as serving no
// work. If it serves one piece in five, it refuses this many in a row once in 1,300 times.
const inARow = 32

// outage is how long the refusals in a row must last. A fast client whose work is always refused
// may send 32 pieces between two successes of other clients.
const outage = int64(time.Second)

// Pushback notes that the downstream, which refuses work, named a time to stay away. A time
// above half a minute counts as half a minute.
func (n *Node) Pushback(after time.Duration, now int64) {
	n.slots.lock()
	defer n.slots.unlock()
	p := &n.slots.contended().coldPart().pushback
	p.after = min(int64(after), int64(longestRetryAfter*float64(time.Second)))
	p.until = max(p.until, now+p.after)
}

// refusedDownstream counts work that the downstream refused, whether or not the downstream named a
// time.
func (p *contention) refusedDownstream(now int64) {
	c := p.coldPart()
	c.overloaded++
	if c.pushback.row == 0 {
		c.pushback.since = now
	}
	c.pushback.row++
}

// answered notes that the downstream did work, and so does not refuse all work.
func (s *slots) answered() {
	if s.flags&pushed != 0 {
		s.flags.set(pushed, false)
		s.contention.cold.pushback = pushback{}
	}
}

// awayFor is the time for which to send the downstream no work, 0 if it serves some of the work.
func (p *contention) awayFor(now int64) int64 {
	if p == nil || p.cold == nil || p.cold.pushback.row < inARow || now-p.cold.pushback.since < outage {
		return 0
	}
	return max(0, p.cold.pushback.until-now)
}

// staysAway reports whether to refuse work because the downstream would refuse it. In each tenth of
// the named time one piece of work is sent all the same, to find out when the downstream serves
// again.
func (s *slots) staysAway(now int64) bool {
	return s.flags&pushed != 0 && s.contention.awayFor(now) > 0 && now < s.contention.cold.pushback.next
}
