package admit

import "time"

// inARow is how many pieces of work in a row a downstream refuses that serves none. Where it
// serves one in five, it refuses so many in a row once in 1,300 times.
const inARow = 32

// Pushback notes that the downstream, which refuses work, asked to stay away for a time. One that
// names more than half a minute is asked again then.
func (s *slots) Pushback(after time.Duration, now int64) {
	s.lock()
	defer s.unlock()
	p := &s.contended().coldPart().pushback
	p.after = min(int64(after), int64(longestRetryAfter*float64(time.Second)))
	p.until = max(p.until, now+p.after)
}

// refusedDownstream counts work that the downstream refused.
func (p *contention) refusedDownstream() {
	c := p.coldPart()
	c.overloaded++
	c.pushback.row++
}

// awayFor is how long the downstream has asked to stay away, 0 if it serves some of the work.
func (p *contention) awayFor(now int64) int64 {
	if p == nil || p.cold == nil || p.cold.pushback.row < inARow {
		return 0
	}
	return max(0, p.cold.pushback.until-now)
}

// staysAway reports whether work is not to be sent because the downstream would refuse it. A piece
// of work in each tenth of the time that it named finds out when that ends.
func (s *slots) staysAway(now int64) bool {
	return s.flags&pushed != 0 && s.contention.awayFor(now) > 0 && now < s.contention.cold.pushback.next
}
