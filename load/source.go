package load

import (
	"context"
	"errors"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
)

// A Source measures one system. A [Monitor] calls it from one goroutine at a
// time, so a Source may keep its last measurement without a lock.
type Source interface {
	// Name identifies the source in events and readings, such as "badger".
	Name() string
	// Poll measures. It returns soon after ctx ends. An error means that the system did not answer,
	// and one that matches [ErrUnavailable] that it never will: there is nothing to measure here;
	// one that matches [ErrDenied] that it does not let the source in. A panic counts as an error,
	// and so does the end of the goroutine.
	Poll(ctx context.Context) (Sample, error)
}

// A Drainer is a [Source] that says ahead of its first poll whether its samples have a [Drain].
type Drainer interface {
	Source
	// TellsDrain reports whether they do. It always says the same.
	TellsDrain() bool
}

// A Sample is the measurement of one poll.
type Sample struct {
	// Readings are the signals; the load of the source is that of the worst.
	// The Monitor copies the slice.
	Readings []Reading
	// Actuator brings the readings down. The zero Actuator is ByPace.
	Actuator Actuator
	// Drain is how fast the system digests writes, nil if the
	// source does not know. A source that knows is a [Drainer].
	Drain *Drain
}

// An Actuator brings the load of a source down. A throttle has a law for each.
type Actuator uint8

// The actuators.
const (
	// ByPace is how fast work starts: for a plant that fills and drains, as a backlog or memory
	// does.
	ByPace Actuator = 0
	// ByConcurrency is how much work runs at once: for work that waits for other work, as for a
	// lock, a connection or a thread.
	ByConcurrency Actuator = 1
)

var actuators = [...]string{ByPace: "pace", ByConcurrency: "concurrency"}

// String returns "pace" or "concurrency".
func (a Actuator) String() string { return wire.Word(actuators[:], a, "Actuator") }

// A Drain is the state of a store that digests writes later, as an LSM tree does by
// compaction, has digested and has still to digest. Any unit will do, tables or
// bytes: the addition of an operation is measured.
type Drain struct {
	Drained float64 // digested since the source began; a fall starts anew
	Backlog float64 // not digested yet
	Target  float64 // the backlog to hold, more than 0
	Limit   float64 // the backlog at which the store stalls; none if not above Target
}

func (d *Drain) check() error {
	switch {
	case !finite(d.Drained) || d.Drained < 0:
		return invalid("drained", d.Drained, "a finite number, 0 or more")
	case !finite(d.Backlog) || d.Backlog < 0:
		return invalid("backlog", d.Backlog, "a finite number, 0 or more")
	case !finite(d.Target) || d.Target <= 0:
		return invalid("target", d.Target, "a finite number above 0")
	case !finite(d.Limit) || d.Limit < 0:
		return invalid("limit", d.Limit, "a finite number, 0 or more")
	}
	return nil
}

var (
	// ErrConfig matches every error about a setting.
	ErrConfig = settings.ErrConfigOf("load")
	// ErrInvalid matches the error of a reading that makes no sense.
	ErrInvalid = errors.New("load: invalid reading")
	// ErrUnavailable is for a source whose system is not there to be measured, such as a memory
	// limit where none is set. Its feed is left out and is not stale.
	ErrUnavailable = errors.New("load: unavailable")
	// ErrDenied is for a source that the system does not let in: a wrong password, a
	// missing privilege. The source is polled again after half a minute, because some servers lock
	// a user out, the application's too if it is the same, when wrong passwords follow each other.
	ErrDenied = errors.New("load: denied")
	// ErrStale is why a reading is not valid any more.
	ErrStale = errors.New("load: stale")
	// ErrRunning is the error of Run if the monitor is running already.
	ErrRunning = errors.New("load: already running")
)

func invalid(what string, value float64, want string) error {
	return settings.Invalid(ErrInvalid, what, value, want)
}
