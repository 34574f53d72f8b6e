package pool

import (
	"time"
)

// A moment is the time of a call to a board, with facts that the board cannot see itself.
type moment struct {
	at     time.Duration
	cut    bool // the context of the tasks has ended
	coming int  // tasks that have ended and are about to be reported
}

// Effects are the acts that follow a call to a board, with no lock held. The zero value is
// ready to be filled.
type effects struct {
	start line // items to run
	spawn bool // a goroutine for them; the run sets it

	ends   []ending // tasks that ended and have a lease
	cancel error    // ends the context of the tasks, unless nil
	short  bool     // a task waits for capacity: the laws must know

	stopClaims bool // ends the context of the claims
	needTasks  bool // wakes the feeder,
	timers     bool // the goroutine of the timers,
	events     bool // and the reader
}

// A line is items in order, chained by next.
type line struct{ first, last *item }

func (l *line) add(other line) {
	switch {
	case other.first == nil:
	case l.first == nil:
		*l = other
	default:
		l.last.next, l.last = other.first, other.last
	}
}

// take removes the first, nil if there is none.
func (l *line) take() (it *item) {
	if it = l.first; it != nil {
		l.first, it.next = it.next, nil
	}
	return it
}

// An ending is a task that ended: once its lease is settled its last event is published.
type ending struct {
	*item
	Event
	redeliver time.Duration
}
