package throttle

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/load"
)

// An Event tells what a throttle did besides pacing.
type Event struct {
	At       time.Time  // when
	Throttle string     // Config.Name
	What     What       // what happened
	Kind     Kind       // to which operations, except for ActionRan
	Level    load.Level // the load at that moment
	Action   string     // the action, for ActionRan
	Err      error      // its error
}

// What is a kind of [Event].
type What uint8

const (
	// Degraded: a signal is stale or invalid, and the side goes by its symptoms.
	Degraded What = 1
	// Restored: all signals are back.
	Restored What = 2
	// EmergencyBegan and EmergencyEnded: see [Emergency].
	EmergencyBegan What = 3
	EmergencyEnded What = 4 // see EmergencyBegan
	// ActionRan: an action has returned.
	ActionRan What = 5
	// NotRunning: the first operation started while Run was not at work, so that
	// it was not paced. Start reports it, on the operation's goroutine.
	NotRunning What = 6
	// MonitorNotRunning: the first operation started while Run was at work and
	// that of [Config].Monitor was not, so that the sides go by their symptoms.
	MonitorNotRunning What = 7
)

// String returns it in words.
func (w What) String() string {
	switch w {
	case Degraded:
		return "degraded"
	case Restored:
		return "restored"
	case EmergencyBegan:
		return "emergency began"
	case EmergencyEnded:
		return "emergency ended"
	case ActionRan:
		return "action ran"
	case NotRunning:
		return "not running"
	case MonitorNotRunning:
		return "monitor not running"
	}
	return fmt.Sprintf("What(%d)", uint8(w))
}

// String describes the event in one line.
func (e Event) String() string {
	switch {
	case e.What == ActionRan && e.Err != nil:
		return fmt.Sprintf("%s: %s failed: %v", e.Throttle, e.Action, e.Err)
	case e.What == ActionRan:
		return fmt.Sprintf("%s: ran %s", e.Throttle, e.Action)
	case e.What == NotRunning:
		return fmt.Sprintf("%s: %vs: %v: call Run", e.Throttle, e.Kind, e.What)
	case e.What == MonitorNotRunning:
		return fmt.Sprintf("%s: %vs: %v: call Monitor.Run", e.Throttle, e.Kind, e.What)
	}
	return fmt.Sprintf("%s: %vs: %v at a load of %.2f", e.Throttle, e.Kind, e.What, e.Level.Load)
}

// note keeps an event until it can be reported.
func (t *Throttle) note(e Event) {
	e.Throttle = t.conf.Name
	t.queue = append(t.queue, e)
}
