package throttle

import (
	"time"

	"github.com/weir-go/weir/load"
)

type emergency struct {
	Emergency
	on    bool
	since time.Time // when it began or, when it is off, last had to end
	rate  float64   // the pace while it is on
	count uint64
}

// leastRate is the slowest emergency pace, so that something always goes on.
const leastRate = 1

// judge begins or ends it. It goes by the monitor alone: missing signals are no
// emergency, and symptoms have a law of their own. It returns the kind of the event, 0 for none.
func (e *emergency) judge(l load.Level, flow float64, now time.Time) Kind {
	overdue := now.Sub(e.since) >= e.Longest
	switch {
	case e.on && (overdue || !l.Valid || l.Load < e.Leave):
		e.on = false
		if overdue {
			e.since = now // it did not help: not again for as long
		} else {
			e.since = time.Time{}
		}
		return EmergencyEnded
	case !e.on && overdue && l.Valid && l.Load >= e.Enter:
		e.on, e.since, e.rate = true, now, max(e.Share*flow, leastRate)
		e.count++
		return EmergencyBegan
	}
	return 0
}

// until is when it has to end, the zero time if there is none.
func (e *emergency) until() time.Time {
	if !e.on {
		return time.Time{}
	}
	return e.since.Add(e.Longest)
}

// bound is the rate that the emergency asks for, 0 without one.
func (e *emergency) bound() float64 {
	if !e.on {
		return 0
	}
	return e.rate
}
