package load

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/wire"
)

// An Event says that a feed became stale, or that it answers again.
type Event struct {
	At     time.Time // when
	Source string    // Source.Name
	Kind   Kind      // the kind of the event
	Err    error     // why, for WentStale and WentMissing
}

// String describes the event in one line.
func (e Event) String() string {
	switch {
	case e.Err != nil && e.Kind == WentStale:
		return e.Err.Error() // it names the source
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", e.Source, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Source, e.Kind)
}

// A Kind is a kind of [Event].
type Kind uint8

const (
	// WentStale: the source gave no valid reading for longer than its MaxAge.
	WentStale Kind = 1
	// WentMissing: the source says that there is nothing to measure.
	WentMissing Kind = 2
	// CameBack: the source answers again.
	CameBack Kind = 3
)

var kinds = [...]string{WentStale: "stale", WentMissing: "unavailable", CameBack: "answers again"}

// String returns the kind in words.
func (k Kind) String() string { return wire.Word(kinds[:], k, "Kind") }
