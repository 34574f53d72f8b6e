package throttle

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/load"
)

// An Event is an act of a throttle besides pacing.
type Event struct {
	At       time.Time  // when
	Throttle string     // Config.Name
	Kind     Kind       // the kind of the act
	Op       Op         // to which operations
	Level    load.Level // the load at that moment
	Err      error      // of the signal that is lost
}

// A Kind is a kind of [Event].
type Kind uint8

const (
	// Degraded: a signal is stale or invalid, and the side goes by its symptoms.
	Degraded Kind = 1
	// Restored: all signals are back.
	Restored Kind = 2
	// EmergencyBegan and EmergencyEnded: see [Emergency].
	EmergencyBegan Kind = 3
	EmergencyEnded Kind = 4 // see EmergencyBegan
	// NotRunning: an operation started a second after New or later, and Run was not at work yet,
	// so that it was not paced. Acquire reports it once, on the operation's goroutine.
	NotRunning Kind = 5
	// MonitorNotRunning: the same, but Run was at work and that of [Config].Monitor was not, so
	// that the sides go by their symptoms.
	MonitorNotRunning Kind = 6
)

var kinds = [...]string{
	Degraded:          "degraded",
	Restored:          "restored",
	EmergencyBegan:    "emergency began",
	EmergencyEnded:    "emergency ended",
	NotRunning:        "not running",
	MonitorNotRunning: "monitor not running",
}

// String returns it in words.
func (k Kind) String() string { return wire.Word(kinds[:], k, "Kind") }

// String describes the event in one line.
func (e Event) String() string {
	switch {
	case e.Kind == NotRunning:
		return fmt.Sprintf("%s: %vs: %v: call Run", e.Throttle, e.Op, e.Kind)
	case e.Kind == MonitorNotRunning:
		return fmt.Sprintf("%s: %vs: %v: call Monitor.Run", e.Throttle, e.Op, e.Kind)
	case e.Kind == Degraded && e.Err != nil:
		return fmt.Sprintf("%s: %vs: %v, by symptoms: %v", e.Throttle, e.Op, e.Kind, e.Err)
	}
	return fmt.Sprintf("%s: %vs: %v at a load of %.2f", e.Throttle, e.Op, e.Kind, e.Level.Load)
}
