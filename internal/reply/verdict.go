package reply

import "fmt"

// A Verdict is the answer to a request.
type Verdict uint8

// The verdicts. Admitted is the only one with which work runs; those from
// OverShare to LimitReached, and BadKey, are refusals.
const (
	Admitted Verdict = iota
	OverShare
	QueueFull
	QueueTimeout
	Deadline
	TooHeavy
	Closed
	BreakerOpen  // a breaker outside the node forbids it
	Overload     // the pace refuses a share of the work, and this was part of it
	LimitReached // there is no slot, and the work cannot or will not wait
	Cancelled    // the caller left before it started
	Waiting      // it is in the queue
	MustWait     // there is no slot but there may be room in the queue
	BadKey       // no node answers this: the key names none

	Refusals = int(LimitReached) + 1 // verdicts that are counted as refusals, with Admitted as a gap
)

// String returns the verdict in words.
func (v Verdict) String() string {
	switch v {
	case Admitted:
		return "admitted"
	case OverShare:
		return "tenant over its share"
	case QueueFull:
		return "queue full"
	case QueueTimeout:
		return "queue timeout"
	case Deadline:
		return "deadline"
	case TooHeavy:
		return "too heavy"
	case Closed:
		return "closed"
	case BreakerOpen:
		return "breaker open"
	case Overload:
		return "overload"
	case LimitReached:
		return "limit reached"
	case Cancelled:
		return "cancelled"
	case Waiting:
		return "waiting"
	case MustWait:
		return "must wait"
	case BadKey:
		return "bad key"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// Refused reports whether the verdict is a refusal.
func (v Verdict) Refused() bool { return v >= OverShare && v <= LimitReached || v == BadKey }
