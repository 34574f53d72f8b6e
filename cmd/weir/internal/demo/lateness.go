package demo

import (
	"fmt"
	"time"
)

// A lateness is the delay of timers. On a busy machine, the servers work more slowly than
// configured, and clients give up on answers that a server would have sent in time.
type lateness struct {
	sum   time.Duration
	count int
}

// tooLate is the mean lateness that makes a server 5% slower: its work takes that much longer
// than the service time.
const tooLate = service / 20

func (l *lateness) add(late time.Duration) {
	l.sum += max(0, late)
	l.count++
}

func (l lateness) mean() time.Duration { return l.sum / time.Duration(max(l.count, 1)) }

func (c *contest) lateness() (all lateness) {
	for _, e := range c.entrants {
		for _, l := range e.loads {
			l.mu.Lock()
			all.sum += l.late.sum
			all.count += l.late.count
			l.mu.Unlock()
		}
	}
	return all
}

// reserve is a line that warns of unreliable figures, or is empty. It replaces an empty line,
// because the table fits a screen.
func (l lateness) reserve() string {
	if l.mean() <= tooLate {
		return ""
	}
	return fmt.Sprintf("This machine was too busy to trust this: timers %v late, bound %v.", l.mean().Round(100*time.Microsecond), tooLate)
}
