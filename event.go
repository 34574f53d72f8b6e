package weir

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/law"
)

// An Event is a change or a refusal by a limiter, with its reason. See [Config].OnEvent, and [Log]
// for a handler that writes events to a log.
type Event struct {
	Seq     uint64    // position in the order of this limiter's events, from 1
	At      time.Time // when it happened
	Limiter string    // Config.Name
	Kind    Kind      // the kind of the event

	// Change is set for LimitChanged and LawReplaced.
	Change Change

	// Reason is set for Refused and WouldRefuse, RetryAfter for Refused.
	Reason     Reason
	RetryAfter time.Duration
}

// A Kind is a kind of [Event].
type Kind uint8

const (
	// LimitChanged: the law, or an update, moved the limit.
	LimitChanged Kind = 1
	// LawReplaced: an update brought a law that could not take over the state of the last law, so
	// the new law starts from the current limit.
	LawReplaced Kind = 2
	// Refused: work was not admitted.
	Refused Kind = 3
	// WouldRefuse: work was admitted in shadow mode only. The event comes when the work would have
	// been refused, so with a queue it may come after the work has started.
	WouldRefuse Kind = 4
)

var kinds = [...]string{LimitChanged: "limit changed", LawReplaced: "law replaced", Refused: "refused", WouldRefuse: "would refuse"}

// String returns the kind in words.
func (k Kind) String() string { return wire.Word(kinds[:], k, "Kind") }

// String describes the event in one line.
func (e Event) String() string { return wire.Line(e.text()) }

func (e Event) text() string {
	switch e.Kind {
	case LimitChanged, LawReplaced:
		return fmt.Sprintf("%s: %v: %v", e.Limiter, e.Kind, e.Change)
	case Refused, WouldRefuse:
		return fmt.Sprintf("%s: %v: %v", e.Limiter, e.Kind, e.Reason)
	default:
		return fmt.Sprintf("%s: %v", e.Limiter, e.Kind)
	}
}

// A Change is one move of the limit.
type Change struct {
	At       time.Time  // when
	From, To int        // the limit before and after, without slots that are only held: see [Permit.Measure]
	Reason   law.Reason // the measurement, and its target
}

// String returns a sentence such as "p95 131ms above 115ms: cut 20 to 14".
func (c Change) String() string { return law.Explain(c.Reason, c.From, c.To) }
