package demo

import (
	"fmt"
	"time"
)

// A lateness is how late timers fired. On a machine that is busy with other things, the servers
// work more slowly than they say, and clients give up that a server would have answered.
type lateness struct {
	sum   time.Duration
	count int
}

// tooLate is the mean of a lateness that makes a server 5% slower: what it works on takes that much
// longer than its service time.
const tooLate = service / 20

func (l *lateness) add(late time.Duration) {
	l.sum += max(0, late)
	l.count++
}

func (l lateness) mean() time.Duration { return l.sum / time.Duration(max(l.count, 1)) }

// together is the lateness of several loads.
func together(loads ...*load) (all lateness) {
	for _, l := range loads {
		l.mu.Lock()
		all.sum += l.late.sum
		all.count += l.late.count
		l.mu.Unlock()
	}
	return all
}

// reserve is a line which says that the figures mean little, if they do. It takes the place of an
// empty one, because the table fits a screen.
func (l lateness) reserve() string {
	if l.mean() <= tooLate {
		return ""
	}
	return fmt.Sprintf("This machine was too busy to trust this: timers %v late, bound %v.", l.mean().Round(100*time.Microsecond), tooLate)
}
