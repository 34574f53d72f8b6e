package reply

import "fmt"

// A Verdict is the answer to a request.
type Verdict uint8

// The verdicts are these and the refusals in refusal.go. Work only runs with Admitted.
const (
	Admitted Verdict = 0

	Cancelled Verdict = 100 // the caller left before the work started
	Waiting   Verdict = 101 // the work is in the queue
	MustWait  Verdict = 102 // there is no slot but there may be room in the queue
)

// String returns the verdict in words.
func (v Verdict) String() string {
	switch {
	case v.Refused():
		return refusals[v].text
	case v == Admitted:
		return "admitted"
	case v == Cancelled:
		return "cancelled"
	case v == Waiting:
		return "waiting"
	case v == MustWait:
		return "must wait"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}
