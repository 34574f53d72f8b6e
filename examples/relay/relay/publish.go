package relay

import (
	"context"
	"errors"
	"time"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/throttle"
)

// publish verifies an event, saves it and delivers it to matching subscriptions. It returns
// the answer to the client.
func (c *connection) publish(e *nostr.Event) (ok bool, reason string) {
	s := c.server
	if err := protocol.CheckTime(e, time.Now()); err != nil { // cheap, so before verification
		s.counts.refused(dating)
		return false, err.Error()
	}
	if err := s.verify(c.ctx, e); err != nil {
		s.counts.refused(verifying)
		return false, refusal("events to verify", err)
	}
	if e.IsEphemeral() {
		return true, ""
	}
	outcome, err := s.save(c.ctx, e)
	switch {
	case errors.Is(err, weir.ErrRefused):
		s.counts.refused(writing)
		return false, refusal("events to write", err)
	case err != nil:
		if c.ctx.Err() == nil {
			s.unsaved.Do(func() { s.conf.Logger.Error("an event was not saved", "id", e.ID, "error", err) })
		}
		return false, protocol.Reason(protocol.Failed, "the event could not be saved: try again")
	}
	return answerTo(outcome)
}

// verify checks the signature, and delivers an event that is not kept. Under overload each
// connection gets its fair share of verifications.
func (s *Server) verify(ctx context.Context, e *nostr.Event) error {
	permit, err := s.verifier.Acquire(ctx)
	if err != nil {
		return err
	}
	defer permit.Done(nil) // a wrong signature is not a failure of the relay
	if err := protocol.Verify(e); err != nil {
		return err
	}
	if e.IsEphemeral() {
		s.live.publish(e)
	}
	return nil
}

// save waits for the throttle, writes an event and delivers it. A write that has begun completes
// even if the client has left: the store has then acknowledged the event. Delivery takes a
// processor, longer the more subscriptions there are, so it is a part of the operation: a flood of
// events delays only its sender.
func (s *Server) save(ctx context.Context, e *nostr.Event) (outcome store.Outcome, err error) {
	op, err := s.throttle.Acquire(ctx, throttle.Write, 1)
	if err != nil {
		return 0, err
	}
	defer op.DoneWith(&err)
	outcome, err = s.conf.Store.Save(context.WithoutCancel(ctx), e)
	if err == nil {
		s.counts.outcomes.WithLabelValues(outcome.String()).Inc()
	}
	if outcome == store.Saved {
		s.live.publish(e)
	}
	return outcome, err
}

// answerTo returns the answer to an event that was not refused. It does not acknowledge an
// event that was not kept.
func answerTo(o store.Outcome) (ok bool, reason string) {
	switch o {
	case store.Duplicate:
		return true, protocol.Reason(protocol.Duplicate, "the event is here")
	case store.Superseded:
		return false, protocol.Reason(protocol.Duplicate, "a newer version is here")
	}
	return true, ""
}

// refusal returns the reason of an error in the protocol's words: of a limiter, with the time
// to come back, or of the protocol.
func refusal(what string, err error) string {
	switch refused, ok := errors.AsType[*weir.RefusedError](err); {
	case !ok:
		return err.Error()
	case refused.Reason == weir.ReasonClosed:
		return protocol.Reason(protocol.Failed, "the relay is closing")
	default:
		return protocol.Reason(protocol.RateLimited, "too many %s: come back in %d s", what, wholeSeconds(refused.RetryAfter))
	}
}
