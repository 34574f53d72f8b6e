package reply

import "errors"

// ErrRefused matches every refusal, in the other packages too. Package weir exports it.
var ErrRefused = errors.New("weir: refused")

// These verdicts are refusals. They have the same numbers as the exported reasons of package weir.
// A new refusal takes the next number.
const (
	BadKey       Verdict = 1 // there is no node for the key
	OverShare    Verdict = 2
	QueueFull    Verdict = 3
	QueueTimeout Verdict = 4
	Deadline     Verdict = 5
	TooHeavy     Verdict = 6
	Closed       Verdict = 7
	BreakerOpen  Verdict = 8  // a breaker outside the node does not allow the work
	Overload     Verdict = 9  // package shed or package retry refused the work
	LimitReached Verdict = 10 // there is no slot, and the work cannot or will not wait
	Paced        Verdict = 11 // the pace lets the work start too late
	PushedBack   Verdict = 12 // the downstream would refuse the work
)

// refusals has the text of each refusal, and a server's answer by HTTP and by gRPC.
var refusals = [...]struct {
	text string
	answer
}{
	BadKey:       {"bad key", invalid},
	OverShare:    {"tenant over its share", exhausted},
	QueueFull:    {"queue full", exhausted},
	QueueTimeout: {"queue timeout", exhausted},
	Deadline:     {"deadline", exhausted},
	TooHeavy:     {"too heavy", exhausted}, // for now: limits and caps may be raised
	Closed:       {"closed", unavailable},
	BreakerOpen:  {"breaker open", exhausted},
	Overload:     {"overload", exhausted},
	LimitReached: {"limit reached", exhausted},
	Paced:        {"pace", exhausted},
	PushedBack:   {"pushback", exhausted},
}

// Refusals is one more than the greatest refusal.
const Refusals = Verdict(len(refusals))

// An answer is the HTTP status and the gRPC code for a refusal.
type answer struct {
	http int
	grpc uint32
}

var (
	invalid = answer{400, 3} // INVALID_ARGUMENT: the same request is refused again
	// exhausted is RESOURCE_EXHAUSTED. Clients of gRPC do not repeat such a call by
	// themselves, as many do with UNAVAILABLE, and an overloaded server wants no second
	// attempts.
	exhausted   = answer{503, 8}
	unavailable = answer{503, 14} // UNAVAILABLE: another server can do it
)

// Refused reports whether the verdict is a refusal.
func (v Verdict) Refused() bool { return v > Admitted && v < Refusals }

// HTTP returns the status with which a server answers work with this refusal, 503 for a
// verdict that is no refusal.
func (v Verdict) HTTP() int { return v.answer().http }

// GRPC is HTTP for gRPC, with 8 for a verdict that is no refusal.
func (v Verdict) GRPC() uint32 { return v.answer().grpc }

func (v Verdict) answer() answer {
	if v.Refused() {
		return refusals[v].answer
	}
	return exhausted
}
