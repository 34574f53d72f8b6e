package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
)

// A Source measures one system. A [Monitor] calls it from one goroutine at a
// time, so a Source may keep its last measurement without a lock.
type Source interface {
	// Name identifies the source in events and readings, such as "badger".
	Name() string
	// Poll measures. It returns soon after ctx ends. An error means that the system did not answer.
	// An error that matches [ErrUnavailable] means that there is nothing to measure here, and an
	// error that matches [ErrDenied] that the system does not let the source in. A panic counts as
	// an error, and so does the end of the goroutine.
	Poll(ctx context.Context) (Sample, error)
}

// A Checker is a [Source] whose settings may be wrong.
type Checker interface {
	Source
	// Check returns an error that names the setting, nil if all settings are valid. [New] calls it,
	// so that the mistake shows before the first poll.
	Check() error
}

// A Drainer is a [Source] that says ahead of its first poll whether its samples have a [Drain].
type Drainer interface {
	Source
	// TellsDrain reports whether the samples have a Drain. It always returns the same value.
	TellsDrain() bool
}

// A Sample is the measurement of one poll.
type Sample struct {
	// Readings are the signals. The load of the source is the load of the worst reading. The
	// Monitor copies the slice.
	Readings []Reading
	// Actuator brings the readings down. The zero Actuator is ByPace.
	Actuator Actuator
	// Drain is the progress of the system in digesting writes, nil if the source does not know it.
	// A source that knows it is a [Drainer].
	Drain *Drain
}

// An Actuator brings the load of a source down. A throttle has a law for each.
type Actuator uint8

// The actuators.
const (
	// ByPace is the rate at which work starts. It suits a system that fills and drains, such as a
	// backlog or memory.
	ByPace Actuator = 0
	// ByConcurrency is the amount of work that runs at once. It suits work that waits for other
	// work, as for a lock, a connection or a thread.
	ByConcurrency Actuator = 1
)

var actuators = [...]string{ByPace: "pace", ByConcurrency: "concurrency"}

// String returns "pace" or "concurrency".
func (a Actuator) String() string { return wire.Word(actuators[:], a, "Actuator") }

// A Drain is the state of a store that digests writes later, as an LSM tree does by compaction. It
// has the amounts that the store has digested, and has still to digest. Their unit is free, such as
// tables or bytes, because a throttle measures the amount that an operation adds.
type Drain struct {
	Drained float64 // digested since the source began; after a fall the count starts anew
	Backlog float64 // not digested yet
	Target  float64 // the backlog to hold, more than 0
	Limit   float64 // the backlog at which the store stalls; no limit if it is not above Target
}

func (d *Drain) check() error {
	const want = "a finite number, 0 or more"
	if d.Target == 0 {
		return settings.Invalid(ErrInvalid, "target", d.Target, "a finite number above 0")
	}
	return cmp.Or(
		settings.NotNegative(ErrInvalid, "drained", d.Drained, want),
		settings.NotNegative(ErrInvalid, "backlog", d.Backlog, want),
		settings.NotNegative(ErrInvalid, "target", d.Target, "a finite number above 0"),
		settings.NotNegative(ErrInvalid, "limit", d.Limit, want),
	)
}

var (
	// ErrConfig matches every error about a setting.
	ErrConfig = settings.ErrConfigOf("load")
	// ErrInvalid matches the error of a reading that makes no sense.
	ErrInvalid = errors.New("load: invalid reading")
	// ErrUnavailable is for a source whose system is not there to be measured, such as a memory
	// limit where none is set. Its feed is left out and is not stale.
	ErrUnavailable = errors.New("load: unavailable")
	// ErrDenied is for a source that the system does not let in: a wrong password, a missing
	// privilege. The source is polled again after half a minute, because some servers lock a user
	// out after several wrong passwords, and the application may use the same user.
	ErrDenied = errors.New("load: denied")
	// ErrStale matches the error of a reading, or of a feed, that is too old.
	ErrStale = errors.New("load: stale")
	// ErrRunning is the error of Run if the monitor is running already.
	ErrRunning = errors.New("load: already running")
)

// A Reading is one signal as a source measured it.
type Reading struct {
	Name  string  // of the quantity, such as "level-0 tables"
	Value float64 // the amount, in Unit; 0 or more
	Unit  Unit    // of Value and Limit
	// Limit is the value at which the system stalls or fails. It is positive, and at most 1 for a
	// Share. A reading that is only shown has a Limit of +Inf and no load.
	Limit float64
	// Scope is the kind of work that the reading concerns. The zero Scope is All.
	Scope Scope
	// At is the time of the measurement. The zero time, and a time in the future, count as the end
	// of the poll.
	At time.Time
	// Err says why the reading is not valid, nil if it is.
	Err error
}

// Load returns the share of the limit that is used: 0 idle, 1 at the limit, more beyond it. It is 0
// for a reading that is not valid.
func (r Reading) Load() float64 {
	if y := r.Value / r.Limit; r.Err == nil && r.Limit > 0 && y >= 0 && !math.IsInf(y, 1) {
		return y
	}
	return 0
}

// String returns the reading in words, such as "level-0 tables 9 of 15", or "tree 120 MiB" without
// a limit.
func (r Reading) String() string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf("%s: %v", r.Name, r.Err)
	case math.IsInf(r.Limit, 1):
		return fmt.Sprintf("%s %s", r.Name, r.Unit.format(r.Value))
	}
	return fmt.Sprintf("%s %s of %s", r.Name, r.Unit.format(r.Value), r.Unit.format(r.Limit))
}

// check returns the reading, with an error in Err if its values make no sense.
func (r Reading) check() Reading {
	switch {
	case r.Err != nil:
	case !(r.Limit > 0):
		r.Err = settings.Invalid(ErrInvalid, "limit", r.Limit, "more than 0")
	case r.Unit == Share && r.Limit > 1 && !math.IsInf(r.Limit, 1): // in percent it would never be reached
		r.Err = settings.Invalid(ErrInvalid, "limit", r.Limit, "at most 1 of a share")
	default:
		r.Err = settings.NotNegative(ErrInvalid, "value", r.Value, "a finite number, 0 or more")
	}
	return r
}

// A Unit is the unit of a [Reading].
type Unit uint8

// The units.
const (
	Count   Unit = 0 // things: tables, transactions
	Bytes   Unit = 1 // of memory or disk
	Seconds Unit = 2 // of time
	Share   Unit = 3 // of a whole, 0 to 1
)

var units = [...]string{Count: "count", Bytes: "bytes", Seconds: "seconds", Share: "share"}

// String returns the name of the unit.
func (u Unit) String() string { return wire.Word(units[:], u, "Unit") }

func (u Unit) format(v float64) string {
	switch {
	case u == Bytes && v < math.MaxInt64:
		return fmt.Sprintf("%.0f MiB", v/(1<<20))
	case u == Seconds && v < math.MaxInt64/float64(time.Second):
		return time.Duration(v * float64(time.Second)).Round(time.Microsecond).String()
	case u == Share:
		return fmt.Sprintf("%.0f%%", 100*v)
	}
	return fmt.Sprintf("%.4g", v)
}

// A Scope says which operations a reading concerns.
type Scope uint8

// The scopes.
const (
	All    Scope = 0 // all work
	Reads  Scope = 1 // reads only
	Writes Scope = 2 // writes only
)

var scopes = [...]string{All: "all", Reads: "reads", Writes: "writes"}

// String returns the name of the scope.
func (s Scope) String() string { return wire.Word(scopes[:], s, "Scope") }

// concerns reports whether a reading of scope s matters to work of scope of.
func (s Scope) concerns(of Scope) bool { return s == All || of == All || s == of }
