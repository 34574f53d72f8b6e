package load

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-go/weir/internal/wire"
)

// A Reading is one signal as a source measured it.
type Reading struct {
	Name  string  // of the quantity, such as "level-0 tables"
	Value float64 // how much of it, in Unit; 0 or more
	Unit  Unit    // of Value and Limit
	// Limit is the value at which the system gives in. It is positive; what is
	// only to be seen, and bounds nothing, has a Limit of +Inf and no load.
	Limit float64
	// Scope says whose work it slows. The zero Scope is All.
	Scope Scope
	// At is when it was measured. The zero time, and one that is still to come,
	// count as the end of the poll.
	At time.Time
	// Err says why the reading is not valid, nil if it is.
	Err error
}

// Load is how much of the limit is used: 0 idle, 1 at the limit, more beyond it,
// and 0 for a reading that is not valid.
func (r Reading) Load() float64 {
	if y := r.Value / r.Limit; r.Err == nil && r.Limit > 0 && y >= 0 && !math.IsInf(y, 1) {
		return y
	}
	return 0
}

// String returns the reading in words, such as "level-0 tables 9 of 15", or "tree 120 MiB" of what
// has no limit.
func (r Reading) String() string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf("%s: %v", r.Name, r.Err)
	case math.IsInf(r.Limit, 1):
		return fmt.Sprintf("%s %s", r.Name, r.Unit.format(r.Value))
	}
	return fmt.Sprintf("%s %s of %s", r.Name, r.Unit.format(r.Value), r.Unit.format(r.Limit))
}

// check returns the reading with the error that it deserves.
func (r Reading) check() Reading {
	switch {
	case r.Err != nil:
	case !(r.Value >= 0) || math.IsInf(r.Value, 1):
		r.Err = invalid("value", r.Value, "a finite number, 0 or more")
	case !(r.Limit > 0):
		r.Err = invalid("limit", r.Limit, "more than 0")
	case math.IsInf(r.Value/r.Limit, 1):
		r.Err = invalid("limit", r.Limit, "more than next to nothing of the value")
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
