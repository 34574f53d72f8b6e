package relay

import (
	"context"
	"errors"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/throttle"
)

// publish verifies an event, saves it and delivers it to matching subscriptions. It returns
// the answer to the client.
func (c *connection) publish(e *nostr.Event) (ok bool, reason string) {
	s := c.server
	if reason := c.allowed(e); reason != "" {
		s.counts.refused(allowing)
		return false, reason
	}
	if err := s.verify(c.ctx, e); err != nil {
		s.counts.refused(verifying)
		return false, refusal("events to verify", err)
	}
	if e.Class() == nostr.Ephemeral {
		s.registry.publish(e)
		return true, ""
	}
	s.registry.begin(e.ID)
	defer s.registry.end(e.ID)
	outcome, err := s.save(c.ctx, e)
	switch {
	case errors.Is(err, weir.ErrRefused):
		s.counts.refused(writing)
		return false, busy("events to write", err)
	case err != nil:
		if c.ctx.Err() == nil {
			s.unsaved.failed(s.conf.Logger, e.ID, err)
		}
		return false, nostr.Reason(nostr.Failed, "the event could not be saved: try again")
	}
	if outcome == store.Saved {
		s.registry.publish(e)
	}
	return answerTo(outcome)
}

// allowed returns the reason why this client may not publish an event, "" if it may. It is
// cheap, so it comes before verification.
func (c *connection) allowed(e *nostr.Event) string {
	if err := c.server.conf.Limits.CheckTime(e, time.Now()); err != nil {
		return err.Error()
	}
	switch {
	case e.Kind == nostr.KindAuth:
		return nostr.Reason(nostr.Invalid, "kind %d is for AUTH", e.Kind)
	case e.Protected() && !c.identity.is(e.PubKey):
		return c.challenge("only its author may publish a protected event")
	case c.server.conf.AuthToWrite && !c.identity.known():
		return c.challenge("this relay takes events from clients that have authenticated")
	}
	return ""
}

// verify checks the signature. Under overload each connection gets its fair share of
// verifications.
func (s *Server) verify(ctx context.Context, e *nostr.Event) error {
	permit, err := s.verifier.Acquire(ctx)
	if err != nil {
		return err
	}
	defer permit.Done(nil) // a wrong signature is not a failure of the relay
	return e.Verify()
}

// refusal returns the reason of a failed verification: the limiter refused it, or the event
// is wrong.
func refusal(what string, err error) string {
	if errors.Is(err, weir.ErrRefused) {
		return busy(what, err)
	}
	return err.Error()
}

// save waits for the throttle and writes an event. A write that has begun completes even if
// the client has left: the store has then acknowledged the event.
func (s *Server) save(ctx context.Context, e *nostr.Event) (outcome store.Outcome, err error) {
	op, err := s.throttle.Start(ctx, throttle.Write, 1)
	if err != nil {
		return 0, err
	}
	defer op.DoneWith(&err)
	outcome, err = s.conf.Store.Save(context.WithoutCancel(ctx), e)
	if outcome == store.Saved { // a duplicate is recognised without a write
		s.unsaved.saved(s.conf.Logger)
	}
	if err == nil {
		s.counts.outcomes.WithLabelValues(outcome.String()).Inc()
	}
	return outcome, err
}

// answerTo returns the answer to an event that was not refused. It does not acknowledge an
// event that was not kept.
func answerTo(o store.Outcome) (ok bool, reason string) {
	switch o {
	case store.Duplicate:
		return true, nostr.Reason(nostr.Duplicate, "the event is here")
	case store.Superseded:
		return false, nostr.Reason(nostr.Duplicate, "a newer version is here")
	case store.Deleted:
		return false, nostr.Reason(nostr.Blocked, "its author had the event deleted")
	}
	return true, ""
}
