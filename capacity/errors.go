package capacity

import (
	"fmt"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/settings"
	"github.com/weir-go/weir/internal/wire"
)

// ErrConfig matches every error about a resource or an amount that makes no
// sense: unknown, negative, of another capacity.
var ErrConfig = settings.ErrConfigOf("capacity")

// A refusal matches the error of its reason, and also weir.ErrRefused as every refusal does. Use
// errors.As with a [*ShortageError] for the resource that is missing.
var (
	ErrShort     error = sentinel{Short}
	ErrQueued    error = sentinel{Queued}
	ErrNeverFits error = sentinel{NeverFits}
)

// A sentinel is the error that all refusals for the reason match.
type sentinel struct{ reason Reason }

func (s sentinel) Error() string { return "capacity: refused: " + s.reason.String() }

// Is makes errors.Is match weir.ErrRefused.
func (sentinel) Is(target error) bool { return target == reply.ErrRefused }

// A Reason says why a request was refused.
type Reason uint8

// A refusal has one of these reasons.
const (
	// Short: the free amount is below the requested amount.
	Short Reason = 1
	// Queued: other requests wait and come first.
	Queued Reason = 2
	// NeverFits: the requested amount is above the limit. Waiting would not help.
	NeverFits Reason = 3
)

var reasons = [...]string{Short: "not enough is free", Queued: "others wait", NeverFits: "above the limit"}

// String returns the reason in words.
func (r Reason) String() string { return wire.Word(reasons[:], r, "Reason") }

// A ShortageError says why a request was refused, and for lack of which resource.
type ShortageError struct {
	Reason   Reason // the reason
	Resource string // the resource that is short; "" for Queued
	// Level is 0 if the capacity that was asked refused, 1 if its parent did, and
	// so on.
	Level int
	// Requested is the requested amount of the resource, Free the free amount (below 0 where a
	// shrink is owed), Limit its limit. All are 0 for Queued.
	Requested, Free, Limit int64
}

// Error returns a sentence such as `capacity: refused: needs 3 of "slots", 1 free of 6`.
func (e *ShortageError) Error() string {
	where := ""
	switch {
	case e.Level == 1:
		where = " of the parent"
	case e.Level > 1:
		where = fmt.Sprintf(" of the ancestor %d levels up", e.Level)
	}
	switch e.Reason {
	case Short:
		return fmt.Sprintf("capacity: refused: needs %d of %q%s, %d free of %d",
			e.Requested, e.Resource, where, e.Free, e.Limit)
	case NeverFits:
		return fmt.Sprintf("capacity: refused: needs %d of %q%s, its limit is %d",
			e.Requested, e.Resource, where, e.Limit)
	default:
		return fmt.Sprintf("capacity: refused: %v%s", e.Reason, where)
	}
}

// Is makes errors.Is match weir.ErrRefused and the error of the reason.
func (e *ShortageError) Is(target error) bool {
	return target == reply.ErrRefused || target == error(sentinel{e.Reason})
}
