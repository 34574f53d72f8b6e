package demo

import (
	"fmt"
	"time"
)

// A lateness is how late timers fired. On a machine that is busy with other things, the servers work more slowly than they say, and
// clients give up that a server would have answered.
type lateness struct {
	sum   time.Duration
	count int
}

// tooLate is the mean of a lateness that makes a server 5% slower: what it works on takes that much longer than its service time.
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

// reserve says that the figures mean little, if they do.
func (p printer) reserve(l lateness) {
	if l.mean() <= tooLate {
		return
	}
	fmt.Fprintf(p, "This machine was too busy for these figures: timers were %v late, not below %v.\n", l.mean().Round(100*time.Microsecond), tooLate)
}
