package weir_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/reply"
)

func TestRefusalsMatchTheirReasonOnly(t *testing.T) {
	all := map[weir.Reason]error{
		weir.ReasonQueueFull: weir.ErrQueueFull, weir.ReasonQueueTimeout: weir.ErrQueueTimeout,
		weir.ReasonDeadline: weir.ErrDeadline, weir.ReasonTooHeavy: weir.ErrTooHeavy, weir.ReasonClosed: weir.ErrClosed,
		weir.ReasonTenantShare: weir.ErrTenantShare, weir.ReasonBreakerOpen: weir.ErrBreakerOpen,
		weir.ReasonOverload: weir.ErrOverload, weir.ReasonLimitReached: weir.ErrLimitReached,
	}
	for reason := range all {
		err := fmt.Errorf("handler: %w", &weir.RefusedError{Reason: reason})
		for other, sentinel := range all {
			if errors.Is(err, sentinel) != (other == reason) {
				t.Errorf("%v matches %v: %v", err, sentinel, other != reason)
			}
			if !errors.Is(sentinel, weir.ErrRefused) ||
				errors.Is(sentinel, context.DeadlineExceeded) != (other == weir.ReasonDeadline) {
				t.Errorf("%v is no refusal", sentinel)
			}
		}
		if !errors.Is(err, weir.ErrRefused) ||
			errors.Is(err, context.DeadlineExceeded) != (reason == weir.ReasonDeadline) ||
			errors.Is(err, weir.ErrExecutionTimeout) {
			t.Errorf("%v matches the wrong roots", err)
		}
		if text, _ := reason.MarshalText(); string(text) != reason.String() {
			t.Errorf("%s: want %v", text, reason)
		}
	}
}

// The core's verdicts become reasons by their number.
func TestReasonsAreThoseOfTheCore(t *testing.T) {
	core := map[weir.Reason]reply.Verdict{
		weir.ReasonBadKey: reply.BadKey, weir.ReasonTenantShare: reply.OverShare, weir.ReasonQueueFull: reply.QueueFull,
		weir.ReasonQueueTimeout: reply.QueueTimeout, weir.ReasonDeadline: reply.Deadline,
		weir.ReasonTooHeavy: reply.TooHeavy,
		weir.ReasonClosed:   reply.Closed, weir.ReasonBreakerOpen: reply.BreakerOpen, weir.ReasonOverload: reply.Overload,
		weir.ReasonLimitReached: reply.LimitReached, weir.ReasonPace: reply.Paced, weir.ReasonPushback: reply.PushedBack,
	}
	for reason, verdict := range core {
		if reason != weir.Reason(verdict) {
			t.Errorf("%v is %d, and %d in the core", reason, reason, verdict)
		}
	}
	texts := map[string]bool{}
	for _, reason := range weir.Reasons() {
		if _, named := core[reason]; !named || texts[reason.String()] {
			t.Errorf("%d, %q, has no exported name, or no text of its own", reason, reason)
		}
		texts[reason.String()] = true
	}
	all := weir.Reasons()
	if all[0] = 99; weir.Reasons()[0] == 99 {
		t.Error("the reasons are not the caller's own")
	}
	if len(core) != len(weir.Reasons()) {
		t.Errorf("Reasons returns %d reasons, and %d have an exported name", len(weir.Reasons()), len(core))
	}
}
